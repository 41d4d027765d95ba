import { Secret } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";

/** The texts of a Secret. */
export function textsOf(secret: AnyResource): Readonly<Record<string, string>> {
  const data = (secret["data"] ?? {}) as Readonly<Record<string, string>>;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, Buffer.from(value, "base64").toString()]));
}

/** A Secret with some texts. */
export function secretFrom(
  metadata: { readonly name: string; readonly namespace: string; readonly annotations?: Readonly<Record<string, string>> },
  texts: Readonly<Record<string, string>>,
): Secret {
  const data = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString("base64")]));
  return { apiVersion: Secret.apiVersion, kind: Secret.kind, metadata, data } as Secret;
}

import { allKinds } from "@isthmus/api";
import { groupOf, type Kind, UsageError } from "@isthmus/core";
import { plainText } from "../output/plainText.ts";
import { kindsNamed, PRINTED_KINDS } from "./kinds.ts";

/** An object as a command line names it. */
export interface NamedObject {
  /** A name of `meshctl get`, a kind, its plural, or KIND.GROUP. */
  readonly kind: string;
  /** Name, or namespace/name. */
  readonly name: string;
  /** Default: that of the management cluster. */
  readonly cluster?: string;
}

/** The path of an object's page in the console. A name alone is in `namespace`. Throws UsageError for a kind that is unknown, or not one. */
export async function consolePath({ kind, name, cluster }: NamedObject, namespace: string): Promise<string> {
  const { apiVersion, kind: known, namespaced } = await kindCalled(kind);
  const parts = name.split("/");
  const [place, own] = parts.length === 1 ? [namespace, name] : parts;
  if (parts.length > 2 || !place || !own)
    throw new UsageError(`${plainText(name)} is not the name of an object: use NAME, or NAMESPACE/NAME`);
  const page = [groupOf(apiVersion) || NONE, known, cluster ?? NONE, namespaced ? place : NONE, own];
  return `/object/${page.map(encodeURIComponent).join("/")}`;
}

// No name of Kubernetes has it.
const NONE = "_";

async function kindCalled(text: string): Promise<Kind> {
  const called = text.toLowerCase();
  const printed = PRINTED_KINDS.find(({ name, aliases }) => name === called || aliases.includes(called));
  const found = printed === undefined ? kindsLike(called) : await kindsNamed(printed.kinds);
  const [one] = found;
  if (one === undefined)
    throw new UsageError(
      `${plainText(text)} is not a kind that the console has: use one such as Destination, TrafficPolicy or VirtualService`,
    );
  if (found.length > 1) {
    const names = found.map(({ apiVersion, kind }) => (groupOf(apiVersion) === "" ? kind : `${kind}.${groupOf(apiVersion)}`));
    throw new UsageError(`${plainText(text)} is more than one kind: use one of ${names.join(", ")}`);
  }
  return one;
}

function kindsLike(called: string): readonly Kind[] {
  const dot = called.indexOf(".");
  const [name, group] = dot < 0 ? [called, undefined] : [called.slice(0, dot), called.slice(dot + 1)];
  return allKinds().filter(
    ({ apiVersion, kind, plural }) => [kind.toLowerCase(), plural].includes(name) && (group === undefined || groupOf(apiVersion) === group),
  );
}

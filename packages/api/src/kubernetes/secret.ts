import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { projectedMetadata } from "./project.ts";
import { foreignStringMap } from "./schema.ts";

// Keys that hold certificates, which everybody may see: of Istio, of our own roots, and of kubernetes.io/tls.
const PUBLIC_KEYS = new Set(["root-cert.pem", "ca-cert.pem", "cert-chain.pem", "tls.crt", "ca.crt"]);

/** Label of the Secrets that keep join tokens; its value is the cluster's name. */
export const JOIN_TOKEN_LABEL = "isthmus.mesh/join-token";
/** On the Secret of a generated root: the options that it was made with, as JSON. */
export const ROOT_OPTIONS = "isthmus.mesh/root-options";
// Of a join token: when it ends. Its hash stays where it is.
const PUBLIC_OF_TOKEN = "expires";

/**
 * A Kubernetes Secret. Secrets of workload clusters are never sent; of one in the management cluster, translation sees its name,
 * its type, which keys it holds, public certificates, what a generated root was made with, and when a join token ends.
 */
export const Secret = defineKind(
  {
    apiVersion: "v1",
    kind: "Secret",
    plural: "secrets",
    fields: { type: Type.String(), data: foreignStringMap, stringData: foreignStringMap },
  },
  (secret) => {
    const { apiVersion, kind, type, data = {} } = secret;
    const isToken = secret.metadata.labels?.[JOIN_TOKEN_LABEL] !== undefined;
    const isPublic = (key: string) => PUBLIC_KEYS.has(key) || (isToken && key === PUBLIC_OF_TOKEN);
    const reduced = Object.entries(data).map(([key, value]) => [key, isPublic(key) ? value : ""]);
    const metadata = projectedMetadata(secret.metadata, (annotation) => annotation === ROOT_OPTIONS);
    return { apiVersion, kind, metadata, ...(type === undefined ? {} : { type }), data: Object.fromEntries(reduced) };
  },
);
export type Secret = ReturnType<typeof Secret.parse>;

import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { projectedMetadata } from "./project.ts";
import { foreignStringMap } from "./schema.ts";

// Keys that hold certificates, which everybody may see: of Istio, of our own roots, and of kubernetes.io/tls.
const PUBLIC_KEYS = new Set(["root-cert.pem", "ca-cert.pem", "cert-chain.pem", "tls.crt", "ca.crt"]);

/**
 * A Kubernetes Secret. Secrets of workload clusters are never sent; of one in the management cluster, translation sees its name,
 * its type, which keys it holds, and public certificates.
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
    const reduced = Object.entries(data).map(([key, value]) => [key, PUBLIC_KEYS.has(key) ? value : ""]);
    const metadata = projectedMetadata(secret.metadata, () => false);
    return { apiVersion, kind, metadata, ...(type === undefined ? {} : { type }), data: Object.fromEntries(reduced) };
  },
);
export type Secret = ReturnType<typeof Secret.parse>;

import { ConfigMap } from "@isthmus/api";
import { InvalidPem, pemBlocks } from "@isthmus/core/pem";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { SchemaProblem } from "./openApiDocument.ts";
import { SCHEMA_CA } from "./schemaFetch.ts";

/** Where the CA of a Service is. */
export interface CaRef {
  readonly namespace: string;
  /** Of a ConfigMap. */
  readonly name: string;
  readonly key: string;
}

/** What annotation `SCHEMA_CA` names: a ConfigMap of the namespace, as NAME or NAME/KEY; undefined without it. Throws SchemaProblem. */
export function caRefIn(
  text: string | undefined,
  { url, namespace }: { readonly url: string; readonly namespace: string },
): CaRef | undefined {
  if (text === undefined) return undefined;
  if (!url.startsWith("https:"))
    throw new SchemaProblem(
      "Refused",
      `annotation ${SCHEMA_CA} has no effect on http: name an https URL, or give the port of the Service appProtocol https`,
    );
  const [name = "", key = DEFAULT_KEY, ...rest] = text.split("/");
  if (rest.length > 0 || !NAME.test(name) || !KEY.test(key))
    throw new SchemaProblem(
      "Refused",
      `annotation ${SCHEMA_CA} names no ConfigMap of this namespace: write it like my-ca, or like istio-ca-root-cert/root-cert.pem with its key`,
    );
  return { namespace, name, key };
}

/** The certificates in a ConfigMap, as PEM. Throws SchemaProblem where there are none: what is written there is not quoted. */
export async function schemaRoots(cluster: Cluster, { namespace, name, key }: CaRef, signal: AbortSignal): Promise<string> {
  const configMap = await cluster.get(ConfigMap, { namespace, name }, signal).catch((error: unknown) => {
    if (!(error instanceof ClusterError)) throw error;
    throw new SchemaProblem("Unreachable", `ConfigMap ${name} with the CA of the Service cannot be read: ${error.message}`);
  });
  const text = configMap?.data?.[key];
  if (text === undefined)
    throw new SchemaProblem("Refused", `there is no ConfigMap ${name} with key ${key} in this namespace: correct annotation ${SCHEMA_CA}`);
  if (!hasCertificates(text))
    throw new SchemaProblem("Refused", `key ${key} of ConfigMap ${name} has no certificates as PEM: put the CA of the Service there`);
  return text;
}

function hasCertificates(text: string): boolean {
  try {
    const blocks = pemBlocks(text);
    return blocks.length > 0 && blocks.every(({ label }) => label === "CERTIFICATE");
  } catch (error) {
    if (error instanceof InvalidPem) return false;
    throw error;
  }
}

const DEFAULT_KEY = "ca.crt";
const NAME = /^[a-z0-9][a-z0-9.-]{0,252}$/;
const KEY = /^[-._a-zA-Z0-9]{1,253}$/;

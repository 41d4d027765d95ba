import { md5Hex, type Resource } from "@isthmus/core";

/** One name for each policy and `last`: names of policies may have dots, so those of workload clusters begin with another word. */
export function policyFilterName(prefix: string, { metadata }: Resource, last: string): string {
  const { name, namespace = "", clusterName = "" } = metadata;
  const parts = [name, namespace, ...(clusterName === "" ? [] : [clusterName]), last];
  const full = [clusterName === "" ? prefix : `${prefix}-of-cluster`, ...parts].join(".");
  return full.length <= MOST_LETTERS ? full : `${full.slice(0, KEPT_LETTERS).replace(/[^a-z0-9]+$/, "")}-${md5Hex(full)}`;
}

/** The name of the EnvoyFilter of a WasmDeployment for a Workload. */
export function wasmFilterName(deployment: Resource, workload: Resource): string {
  return policyFilterName("wasm", deployment, workload.metadata.name);
}

// What names of most kinds may have, so that tools show them whole; an MD5 has 32 letters.
const MOST_LETTERS = 63;
const KEPT_LETTERS = MOST_LETTERS - 33;

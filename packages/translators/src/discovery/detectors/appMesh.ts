import { type AppMesh, Mesh } from "@isthmus/api";
import { type Owner, refOf, sanitizedName } from "@isthmus/core";
import { CLUSTER_LABEL } from "../../clusterLabel.ts";
import type { DiscoveryResult } from "../discoveryResult.ts";
import { finding } from "../findings.ts";

/** All that the translation of one App Mesh may read. */
export interface AppMeshInputs {
  /** The name by which AWS knows it: one mesh, in however many clusters. */
  readonly arn: string;
  /** The resources that stand for it, in key order. */
  readonly sources: readonly [AppMesh, ...AppMesh[]];
  readonly owner: Owner;
  readonly namespace: string;
}

/** Translates one App Mesh into its Mesh. */
export function translateAppMesh({ arn, sources, owner, namespace }: AppMeshInputs): DiscoveryResult<Mesh> {
  const parsed = parsedArn(arn);
  if (parsed === undefined) {
    const problem = `status.meshARN: ${arn} is not an ARN (arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE): check the logs of the App Mesh controller`;
    return { reports: sources.map((source) => finding(refOf(source), "INVALID", "AppMeshArnInvalid", problem)) };
  }
  const { region, account, resource } = parsed;
  const awsName = resource.replace(/^mesh\//, "");
  const mesh: Mesh = {
    apiVersion: Mesh.apiVersion,
    kind: Mesh.kind,
    // It is in no one cluster, so it bears no label of one.
    metadata: { name: nameOf(`${awsName}-${region}-${account}`), namespace, labels: { [CLUSTER_LABEL]: "", [owner.label]: owner.value } },
    spec: { awsAppMesh: { awsName, region, awsAccountId: account, arn, clusters: clustersOf(sources) } },
  };
  const seenOnly = `is discovered as ${mesh.metadata.name}; policies and VirtualMeshes have no effect in AWS App Mesh`;
  const reports = sources.map((source) => finding(refOf(source), "WARNING", "AppMeshSeenOnly", seenOnly));
  return { output: { resource: mesh, parents: sources.map(refOf) }, reports };
}

/** Source: docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html. */
function parsedArn(arn: string): { readonly region: string; readonly account: string; readonly resource: string } | undefined {
  const [prefix, , , region, account, ...resource] = arn.split(":");
  if (prefix !== "arn" || region === undefined || account === undefined || resource.length === 0) return undefined;
  return { region, account, resource: resource.join(":") };
}

function clustersOf(sources: readonly AppMesh[]): readonly string[] {
  return sources.map(({ metadata }) => metadata.clusterName ?? "").sort();
}

const KUBERNETES_NAME = /^[a-z0-9]([-a-z0-9]{0,251}[a-z0-9])?$/;

/** The published product takes the name as it is; AWS allows capitals and `_`, which no API server takes. */
function nameOf(name: string): string {
  return KUBERNETES_NAME.test(name) ? name : sanitizedName(name.replaceAll("_", "-"));
}

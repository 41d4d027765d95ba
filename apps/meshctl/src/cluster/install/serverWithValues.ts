import { type AnyResource, UsageError } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { type ChartValues, renderChart } from "../charts/renderChart.ts";
import type { RunHelm } from "../charts/runHelm.ts";
import { type ObjectPlace, recordedObjects, withValuesRecord } from "../charts/valuesRecord.ts";
import { isMadeByMeshctl } from "../register/ownObjects.ts";
import { ServiceAccount } from "../remoteAccess.ts";
import { CONSOLE, REDIS, SERVER, serverObjects } from "./serverManifest.ts";

/** How the chart of the management server gets its values. */
export interface ServerValues extends ChartValues {
  readonly runHelm: RunHelm;
}

/** The values of the label `app` of what the chart has. */
export const SERVER_APPS: ReadonlySet<string> = new Set([SERVER, REDIS, CONSOLE]);

/** The objects of the chart of the management server with values of a user. Throws UsageError for what Helm or meshctl refuses. */
export async function serverObjectsWith(namespace: string, values: ServerValues): Promise<readonly AnyResource[]> {
  const byDefault = serverObjects(namespace);
  const objects = await renderChart({ chart: "gloo-mesh-mgmt-server", namespace, values, own: {}, runHelm: values.runHelm });
  if (!objects.some(({ kind, metadata }) => kind === "Deployment" && metadata.name === SERVER && metadata.namespace === namespace)) {
    throw new UsageError(
      `with these values there is no Deployment ${namespace}/${SERVER}: legacy names are installed with Helm (docs/getting-started.md)`,
    );
  }
  return withValuesRecord(objects, SERVER, byDefault);
}

/** What an earlier installation with values of its own has besides what each has; undefined where it had none. */
export async function recordOfPlane(cluster: Cluster, namespace: string): Promise<readonly ObjectPlace[] | undefined> {
  const account = await cluster.get(ServiceAccount, { name: SERVER, namespace });
  return account !== undefined && isMadeByMeshctl(account) ? recordedObjects(account) : undefined;
}

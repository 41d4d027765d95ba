import { type AnyResource, type JsonObject, UsageError } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { type ChartValues, renderChart } from "../charts/renderChart.ts";
import type { RunHelm } from "../charts/runHelm.ts";
import { type ObjectPlace, oursAt, pruneObjects, recordedObjects, withValuesRecord } from "../charts/valuesRecord.ts";
import { ServiceAccount } from "../remoteAccess.ts";
import { AGENT, type AgentInstallation, agentObjects, isAgent } from "./agentManifest.ts";
import type { GateKeeper } from "./gates.ts";
import { isMadeByMeshctl } from "./ownObjects.ts";
import { addressText } from "./relayAddress.ts";

/** How the chart of an agent gets its values. */
export interface AgentValues extends ChartValues {
  readonly runHelm: RunHelm;
}

/**
 * The objects of the agent chart with values of a user, in the order in which they are applied. Throws UsageError for what Helm refuses, and for values that contradict what the registration
 * itself decides.
 */
export async function agentObjectsWith(settings: AgentInstallation, values: AgentValues): Promise<readonly AnyResource[]> {
  const byDefault = agentObjects(settings);
  const { clusterName, namespace, managementNamespace, relay, clientCertificates = true } = settings;
  const own: JsonObject = {
    relay: {
      cluster: clusterName,
      serverAddress: addressText(relay),
      authority: relay.authority,
      managementNamespace,
      disableClientCertificateAuthentication: !clientCertificates,
    },
  };
  const objects = await renderChart({ chart: "gloo-mesh-agent", namespace, values, own, runHelm: values.runHelm });
  const agent = objects.find((object) => isAgent(object) && object.metadata.namespace === namespace);
  if (agent === undefined) throw new UsageError(`with these values there is no Deployment ${namespace}/${AGENT}: ${WITH_HELM}`);
  const { args, env } = containerOf(agent);
  const wanted = containerOf(byDefault.find(isAgent) as AnyResource).args;
  for (const [value, flag, option] of DECIDED) {
    const [given, decided] = [args, wanted].map((all) => all.filter((argument) => argument.split("=", 1)[0] === flag).join(" ")) as [
      string,
      string,
    ];
    if (given === decided) continue;
    throw new UsageError(
      `--values or --set give ${value} another value than this registration (${given || "none"} instead of ${decided || "none"}): leave it out, ${option}`,
    );
  }
  if (env.some(({ name }) => name === "RELAY_TOKEN")) {
    throw new UsageError(
      `--values or --set have relay.tokenSecret: an agent registered by meshctl reads relay-identity-token-secret: leave it out`,
    );
  }
  return withValuesRecord(objects, AGENT, byDefault);
}

/** Of a registration, what decides about the values of its agent. */
export interface RegistrationValues {
  readonly remote: Cluster;
  readonly remoteNamespace: string;
  readonly clusterName: string;
  readonly values: AgentValues | undefined;
  readonly resetsValues: boolean;
  readonly say: (line: string) => void;
}

/** What is installed of an agent, and what of it an earlier registration may have made. */
export interface PlannedAgent {
  readonly objects: readonly AnyResource[];
  readonly earlier: readonly (AnyResource | ObjectPlace)[];
}

/** Refuses to take values away that an earlier registration gave. Throws UsageError. */
export async function refuseForgottenValues({ values, resetsValues, clusterName, ...place }: RegistrationValues): Promise<void> {
  if (values !== undefined || resetsValues || recordedObjects(await accountOf(place)) === undefined) return;
  throw new UsageError(
    `the agent of ${clusterName} has values of its own, which this command would take away: pass its --values and --set again, or --reset-values`,
  );
}

/** The objects of an agent: with values of a user, a gate that says so. */
export async function agentToInstall(
  registration: RegistrationValues,
  gates: GateKeeper,
  settings: AgentInstallation,
): Promise<PlannedAgent> {
  const { values } = registration;
  const byDefault = agentObjects(settings);
  const earlier = [...byDefault, ...(recordedObjects(await accountOf(registration)) ?? [])];
  if (values === undefined) return { objects: byDefault, earlier };
  let objects: readonly AnyResource[] = [];
  await gates.pass("values", [], async () => {
    objects = await agentObjectsWith(settings, values);
    return `${objects.length} objects of the chart with your values`;
  });
  return { objects, earlier };
}

/** Deletes what an earlier registration installed with other values, and says so. */
export async function pruneAgent({ remote, say }: RegistrationValues, { objects, earlier }: PlannedAgent): Promise<void> {
  const deleted = await pruneObjects(remote, { earlier, now: objects, apps: AGENTS, kept: new Set() });
  for (const name of deleted) say(`deleted ${name}, which these values do not have`);
}

/** What an agent has besides what each agent has. */
export async function moreOfAgent(remote: Cluster, namespace: string): ReturnType<typeof oursAt> {
  return oursAt(remote, recordedObjects(await accountOf({ remote, remoteNamespace: namespace })) ?? [], AGENTS);
}

async function accountOf({
  remote,
  remoteNamespace: namespace,
}: Pick<RegistrationValues, "remote" | "remoteNamespace">): Promise<AnyResource | undefined> {
  const account = await remote.get(ServiceAccount, { name: AGENT, namespace });
  return account !== undefined && isMadeByMeshctl(account) ? account : undefined;
}

const AGENTS: ReadonlySet<string> = new Set([AGENT]);

// What a registration decides: the value, the flag of the agent, and what else gives it.
const DECIDED = [
  ["mode", "--standard", "or use --standard"],
  ["relay.cluster", "--cluster", "or pass it as the name of the cluster"],
  ["relay.serverAddress", "--relay-address", "or use --relay-server-address"],
  ["relay.authority", "--relay-authority", "or use --relay-authority"],
  ["relay.managementNamespace", "--management-namespace", "or use --mgmt-namespace"],
  ["relay.disableClientCertificateAuthentication", "--disable-client-certificates", "or use --disable-client-certificates"],
] as const;

const WITH_HELM = "legacy names and an agent for certificates alone are installed with Helm (docs/registration.md)";

interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string }[];
}

function containerOf(deployment: AnyResource): Container {
  const { spec } = deployment as unknown as {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Partial<Container>[] } } };
  };
  const [{ args = [], env = [] } = {}] = spec.template.spec.containers;
  return { args, env };
}

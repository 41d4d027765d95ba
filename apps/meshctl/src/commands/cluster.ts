import { Command, InvalidArgumentError } from "commander";
import { type Connect, connectWithKubeconfig, inManagementCluster, type Place } from "../cluster/managementCluster.ts";
import type { Io } from "../io.ts";
import { type ConnectRemote, connectRemote, registrationCommands } from "./clusterRegistration.ts";

/** `meshctl cluster`: who may join the management plane, and who no longer may. */
export function clusterCommand(io: Io, connect: Connect = connectWithKubeconfig, toRemote: ConnectRemote = connectRemote): Command {
  const group = new Command("cluster").description("Say which clusters may join the management plane, and which no longer may.");
  const token = new Command("token").description("Tokens with which a cluster may join, once.");
  token.addCommand(tokenCreateCommand(io, connect));
  for (const command of [token, ...registrationCommands(io, connect, toRemote), revokeCommand(io, connect), replaceCommand(io, connect)]) {
    group.addCommand(command);
  }
  return group;
}

/** The options that say where the management cluster is. */
function inManagement(command: Command): Command {
  return command
    .option("--kubeconfig <file>", "kubeconfig of the management cluster; default: KUBECONFIG, or the home directory")
    .option("--context <name>", "context of the kubeconfig; default: its current one")
    .option("-n, --namespace <name>", "namespace of the management plane", "gloo-mesh")
    .allowExcessArguments(false);
}

function tokenCreateCommand(io: Io, connect: Connect): Command {
  return inManagement(new Command("create"))
    .description("Create a token with which one cluster may join, once. The token is printed, and kept nowhere.")
    .requiredOption("--cluster <name>", "the cluster that may join with it")
    .option("--ttl <duration>", "how long it is good, up to 24h", durationMs, DEFAULT_LIFETIME_MS)
    .addHelpText("after", TOKEN_HELP)
    .action(async ({ cluster: clusterName, ttl, ...place }: Place & { readonly cluster: string; readonly ttl: number }) => {
      const { createJoinToken, systemClock } = await import("@isthmus/plane");
      const { token, expiresAt } = await inManagementCluster(place, connect, (cluster) =>
        createJoinToken(cluster, { namespace: place.namespace, clock: systemClock, clusterName, lifetimeMs: ttl }),
      );
      io.err(
        `This token lets ${clusterName} join, once, until ${new Date(expiresAt).toISOString()}. In that cluster, put it into the Secret\n` +
          `relay-identity-token-secret (key token) in the agent's namespace, or into the agent's RELAY_TOKEN.\n`,
      );
      await io.out(`${token}\n`);
    });
}

function revokeCommand(io: Io, connect: Connect): Command {
  return inManagement(new Command("revoke").argument("<name>", "the cluster"))
    .description("Revoke all certificates of a cluster: within seconds every replica of the server sends its agent away.")
    .option("--undo", "take it back: certificates from before count again")
    .addHelpText("after", REVOKE_HELP)
    .action(async (name: string, { undo, ...place }: Place & { readonly undo?: true }) => {
      const { REVOKED_BEFORE } = await import("@isthmus/plane");
      const { annotateCluster } = await import("../cluster/annotate.ts");
      await inManagementCluster(place, connect, (cluster) =>
        annotateCluster(cluster, { name, namespace: place.namespace }, (annotations) => ({
          [REVOKED_BEFORE]: undo ? undefined : revocationTime(annotations[REVOKED_BEFORE]),
        })),
      );
      io.err(
        undo
          ? `The certificates of ${name} count again, unless they have expired.\n`
          : `The certificates of ${name} are revoked, and the shared token does not let it in either. To let it in again:\n` +
              `  meshctl cluster token create --cluster ${name}\n`,
      );
    });
}

function replaceCommand(io: Io, connect: Connect): Command {
  return inManagement(new Command("replace").argument("<name>", "the name"))
    .description("Let another cluster register under a name that is taken, once, because the one that has it is gone.")
    .addHelpText("after", REPLACE_HELP)
    .action(async (name: string, place: Place) => {
      const { REPLACE } = await import("@isthmus/plane");
      const { annotateCluster } = await import("../cluster/annotate.ts");
      await inManagementCluster(place, connect, (cluster) =>
        annotateCluster(cluster, { name, namespace: place.namespace }, () => ({ [REPLACE]: new Date().toISOString() })),
      );
      io.err(`The next other cluster that registers as ${name} gets the name; the one that has it now is sent away then.\n`);
    });
}

/** Now, in the whole seconds that certificates count in, and always later than the time before: it revokes what was issued since. */
function revocationTime(before: string | undefined): string {
  const last = Date.parse(before ?? "");
  const now = Math.floor(Date.now() / 1000) * 1000;
  return new Date(Number.isNaN(last) ? now : Math.max(now, last + 1000)).toISOString();
}

function durationMs(text: string): number {
  const match = /^(\d+)(s|m|h)$/.exec(text);
  if (match === null) throw new InvalidArgumentError(`${text} is not a duration such as 30m or 2h`);
  const unit = { s: 1_000, m: 60_000, h: 3_600_000 }[match[2] as "s" | "m" | "h"];
  return Number(match[1]) * unit;
}

// Source: decisions on the relay, “single use, 1 h by default”.
const DEFAULT_LIFETIME_MS = 3_600_000;

const TOKEN_HELP = `
The token is on standard output, and what to do with it on standard error.

Examples:
  # Let the cluster east join within the next hour
  meshctl cluster token create --cluster east

  # Straight into the workload cluster
  kubectl --context east -n gloo-mesh create secret generic relay-identity-token-secret \\
    --from-literal=token="$(meshctl cluster token create --kubeconfig mgmt.yaml --cluster east --ttl 10m)"`;

const REVOKE_HELP = `
What came from the cluster stays in use, as when its agent is away; delete its KubernetesCluster to have it removed.

Examples:
  meshctl cluster revoke east
  meshctl cluster revoke east --undo`;

const REPLACE_HELP = `
Examples:
  # The cluster east was rebuilt: its agent says that the name is taken
  meshctl cluster replace east`;

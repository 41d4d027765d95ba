import type { Secret } from "@isthmus/api";
import { UsageError } from "@isthmus/core";
import { Command, InvalidArgumentError, Option } from "commander";
import { type Connect, connectWithKubeconfig, inManagementCluster, type Place } from "../cluster/managementCluster.ts";
import type { Io } from "../io.ts";
import { type ConnectRemote, connectRemote, registrationCommands } from "./clusterRegistration.ts";

/** `meshctl cluster`: who may join the management plane, and who no longer may. */
export function clusterCommand(io: Io, connect: Connect = connectWithKubeconfig, toRemote: ConnectRemote = connectRemote): Command {
  const group = new Command("cluster").description("Say which clusters may join the management plane, and which no longer may.");
  const token = new Command("token").description("Tokens with which a cluster may join, once.");
  token.addCommand(tokenCreateCommand(io, connect));
  token.addCommand(tokenSharedCommand(io, connect));
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
    .addOption(new Option("--ttl <duration>", "how long it is good, up to 24h").argParser(durationMs).default(DEFAULT_LIFETIME_MS, "1h"))
    .option("--manifest", "print the Secrets that the agent needs, to be applied in its cluster, instead of the token alone")
    .addOption(agentNamespaceOption())
    .addHelpText("after", TOKEN_HELP)
    .action(async ({ cluster: clusterName, ttl, manifest, agentNamespace, ...place }: TokenOptions) => {
      const { createJoinToken, secretsToJoin, systemClock } = await import("@isthmus/plane");
      const { namespace } = place;
      const { token, expiresAt, secrets } = await inManagementCluster(place, connect, async (cluster) => {
        const made = await createJoinToken(cluster, { namespace, clock: systemClock, clusterName, lifetimeMs: ttl });
        const { token } = made;
        return { ...made, secrets: manifest ? await secretsToJoin(cluster, { namespace, agentNamespace, token }) : [] };
      });
      io.err(
        `This token lets ${clusterName} join, once, until ${new Date(expiresAt).toISOString()}. ` +
          (manifest
            ? `Apply these Secrets in that cluster.\n`
            : `In that cluster, put it into the Secret\n` +
              `relay-identity-token-secret (key token) in the agent's namespace, or into the agent's RELAY_TOKEN. The agent also needs\n` +
              `the Secret relay-root-tls-secret (key ca.crt) there, by which it knows the server: --manifest prints both.\n`),
      );
      await io.out(manifest ? await manifestOf(secrets) : `${token}\n`);
    });
}

interface TokenOptions extends Place {
  readonly cluster: string;
  readonly ttl: number;
  readonly manifest?: true;
  readonly agentNamespace: string;
}

function agentNamespaceOption(): Option {
  return new Option("--agent-namespace <name>", "namespace of the agent in its cluster").default("gloo-mesh");
}

async function manifestOf(secrets: readonly Secret[]): Promise<string> {
  const { yamlText } = await import("../offline/yamlText.ts");
  return secrets.map((secret) => `---\n${yamlText(secret)}`).join("");
}

function tokenSharedCommand(io: Io, connect: Connect): Command {
  return inManagement(new Command("shared"))
    .description(
      "Print the Secrets with which clusters may join under names that have never been registered: the shared token, and the root.",
    )
    .addOption(agentNamespaceOption())
    .addHelpText("after", SHARED_HELP)
    .action(async ({ agentNamespace, ...place }: Place & { readonly agentNamespace: string }) => {
      const { secretsToJoin } = await import("@isthmus/plane");
      const secrets = await inManagementCluster(place, connect, (cluster) =>
        secretsToJoin(cluster, { namespace: place.namespace, agentNamespace }),
      );
      io.err("Whoever has this token can register a name that has never been registered. Apply these Secrets where the agent runs.\n");
      await io.out(await manifestOf(secrets));
    });
}

function revokeCommand(io: Io, connect: Connect): Command {
  return inManagement(new Command("revoke").argument("<name>", "the cluster"))
    .description("Revoke all certificates of a cluster: within seconds every replica of the server sends its agent away.")
    .option("--undo", "take it back: certificates from before count again")
    .option("--rotate-token", "also replace the shared token, which the agent knows: the one before lets nobody in any more")
    .addHelpText("after", REVOKE_HELP)
    .action(async (name: string, { undo, rotateToken, ...place }: Place & { readonly undo?: true; readonly rotateToken?: true }) => {
      if (undo && rotateToken)
        throw new UsageError("--undo and --rotate-token exclude each other: a shared token that is replaced does not come back");
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
      if (!rotateToken) return;
      const { rotateSharedToken } = await import("@isthmus/plane");
      await inManagementCluster(place, connect, (cluster) => rotateSharedToken(cluster, { namespace: place.namespace }));
      io.err(ROTATED);
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
      io.err(
        `The next other cluster that registers as ${name} gets the name; the one that has it now is sent away then. The newcomer needs a join token:\n  meshctl cluster token create --cluster ${name}\n`,
      );
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

  # Straight into the workload cluster, with the root by which the agent knows the server
  meshctl cluster token create --context mgmt --cluster east --ttl 10m --manifest | kubectl --context east apply -f -`;

const SHARED_HELP = `
Examples:
  # Straight into the workload cluster west
  meshctl cluster token shared --context mgmt | kubectl --context west apply -f -`;

const ROTATED = `The Secret relay-identity-token-secret of the management cluster holds a new shared token, and running servers go by it.
Agents that have a certificate need no token. One that has yet to register needs a join token, or the new shared one:
  meshctl cluster token shared
A server that was given its token by RELAY_TOKEN or --relay-token does not read the Secret: change it there. Where agents have no
certificates, each needs the new token now.
`;

const REVOKE_HELP = `
What came from the cluster stays in use, as when its agent is away; delete its KubernetesCluster to have it removed.

Examples:
  meshctl cluster revoke east
  # Somebody may have read its Secrets: the shared token is worth nothing any more either
  meshctl cluster revoke east --rotate-token
  meshctl cluster revoke east --undo`;

const REPLACE_HELP = `
Examples:
  # The cluster east was rebuilt: its agent says that the name is taken
  meshctl cluster replace east`;

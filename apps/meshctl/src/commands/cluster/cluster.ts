import type { Secret } from "@isthmus/api";
import { UsageError } from "@isthmus/core";
import { Command, Option } from "commander";
import type { ConnectApiServer } from "../../cluster/apiServer.ts";
import type { RunHelm } from "../../cluster/charts/runHelm.ts";
import type { CatchInterrupts } from "../../cluster/interruption.ts";
import { type Connect, connectWithKubeconfig, inManagementCluster, type ManagementTarget } from "../../cluster/managementCluster.ts";
import type { Io } from "../../io.ts";
import { READ_EXIT_CODES, WRITE_EXIT_CODES } from "../commandLine/helpText.ts";
import { durationMs, inManagement } from "../commandRuntime.ts";
import { doneOrTried, dryRunOption } from "../dryRun.ts";
import { type ConnectRemote, connectRemote, registrationCommands } from "./clusterRegistration.ts";

interface ClusterOptions {
  readonly connectApiServer?: ConnectApiServer;
  readonly catchInterrupts?: CatchInterrupts;
  readonly runHelm?: RunHelm;
}

/** `meshctl cluster`: who may join the management plane, and who no longer may. */
export function clusterCommand(
  io: Io,
  connect: Connect = connectWithKubeconfig,
  toRemote: ConnectRemote = connectRemote,
  { connectApiServer, runHelm, catchInterrupts = () => new AbortController().signal }: ClusterOptions = {},
): Command {
  const group = new Command("cluster").description("Manage which clusters may join the management plane.");
  const token = new Command("token").description("Manage single-use tokens for joining clusters.");
  token.addCommand(tokenCreateCommand(io, connect));
  token.addCommand(tokenSharedCommand(io, connect));
  const registration = registrationCommands({ io, connect, toRemote, connectApiServer, catchInterrupts, runHelm });
  for (const command of [token, ...registration, revokeCommand(io, connect), replaceCommand(io, connect)]) group.addCommand(command);
  return group;
}

function tokenCreateCommand(io: Io, connect: Connect): Command {
  return inManagement(new Command("create"))
    .description("Create a single-use token with which a cluster can join. The token is printed and not stored.")
    .requiredOption("--cluster <name>", "cluster that can join with the token")
    .addOption(
      new Option("--ttl <duration>", "lifetime of the token, at most 24h").argParser(durationMs).default(DEFAULT_LIFETIME_MS, "1h"),
    )
    .option("--manifest", "print the Secrets that the agent needs, to apply in its cluster, instead of only the token")
    .addOption(agentNamespaceOption())
    .addOption(dryRunOption())
    .addHelpText("after", TOKEN_HELP)
    .action(async ({ cluster: clusterName, ttl, manifest, agentNamespace, dryRun, ...place }: TokenOptions) => {
      const { createJoinToken, secretsToJoin } = await import("@isthmus/plane/installation");
      const { systemClock } = await import("@isthmus/plane/clock");
      const { namespace } = place;
      if (dryRun === true) {
        await doneOrTried(io, dryRun, async (within) => {
          const options = { namespace, clock: systemClock, clusterName, lifetimeMs: ttl };
          await inManagementCluster(place, connect, (cluster) => createJoinToken(within(cluster), options));
        });
        return;
      }
      const { token, expiresAt, secrets } = await inManagementCluster(place, connect, async (cluster) => {
        const made = await createJoinToken(cluster, { namespace, clock: systemClock, clusterName, lifetimeMs: ttl });
        const { token } = made;
        return { ...made, secrets: manifest ? await secretsToJoin(cluster, { namespace, agentNamespace, token }) : [] };
      });
      io.note(
        `With this token, ${clusterName} can join once until ${new Date(expiresAt).toISOString()}. ` +
          (manifest
            ? `Apply these Secrets in that cluster.\n`
            : `In that cluster, set it in the Secret\n` +
              `relay-identity-token-secret (key token) in the agent's namespace, or in RELAY_TOKEN of the agent. The agent also needs\n` +
              `the Secret relay-root-tls-secret (key ca.crt) there, to verify the server: --manifest prints both.\n`),
      );
      await io.out(manifest ? await manifestOf(secrets) : `${token}\n`);
    });
}

interface TokenOptions extends ManagementTarget {
  readonly cluster: string;
  readonly ttl: number;
  readonly manifest?: true;
  readonly dryRun?: true;
  readonly agentNamespace: string;
}

function agentNamespaceOption(): Option {
  return new Option("--agent-namespace <name>", "namespace of the agent in its cluster").default("gloo-mesh");
}

async function manifestOf(secrets: readonly Secret[], format: "yaml" | "json" = "yaml"): Promise<string> {
  if (format === "json") return `${JSON.stringify({ apiVersion: "v1", kind: "List", items: secrets }, undefined, 2)}\n`;
  const { yamlText } = await import("../../offline/yamlText.ts");
  return secrets.map((secret) => `---\n${yamlText(secret)}`).join("");
}

function tokenSharedCommand(io: Io, connect: Connect): Command {
  return inManagement(new Command("shared"))
    .description(
      "Print the Secrets with which clusters can join with names that have never been registered: the shared token and the root certificate.",
    )
    .addOption(agentNamespaceOption())
    .addOption(new Option("-o, --output <format>", "yaml, or json as one List").choices(["yaml", "json"]).default("yaml"))
    .addHelpText("after", SHARED_HELP)
    .action(async ({ agentNamespace, output, ...place }: SharedTokenOptions) => {
      const { secretsToJoin } = await import("@isthmus/plane/installation");
      const secrets = await inManagementCluster(place, connect, (cluster) =>
        secretsToJoin(cluster, { namespace: place.namespace, agentNamespace }),
      );
      io.err(
        "Any holder of this token can register a cluster name that has never been registered. Apply these Secrets where the agent runs.\n",
      );
      await io.out(await manifestOf(secrets, output));
    });
}

interface SharedTokenOptions extends ManagementTarget {
  readonly agentNamespace: string;
  readonly output: "yaml" | "json";
}

function revokeCommand(io: Io, connect: Connect): Command {
  return inManagement(new Command("revoke").argument("<name>", "name of the cluster"))
    .description("Revoke all certificates of a cluster: within seconds, all replicas of the server disconnect its agent.")
    .option("--undo", "undo the revocation: earlier certificates are valid again")
    .option("--rotate-token", "also replace the shared token, which the agent knows; the previous one becomes invalid")
    .addOption(dryRunOption())
    .addHelpText("after", REVOKE_HELP)
    .action(async (name: string, { undo, rotateToken, dryRun, ...place }: RevokeOptions) => {
      if (undo && rotateToken)
        throw new UsageError("--undo and --rotate-token are mutually exclusive: a replaced shared token cannot be restored");
      const { REVOKED_BEFORE, rotateSharedToken } = await import("@isthmus/plane/installation");
      const { annotateCluster } = await import("../../cluster/annotate.ts");
      const { namespace } = place;
      const say = (text: string): void => {
        if (dryRun !== true) io.note(text);
      };
      await doneOrTried(io, dryRun, async (within) => {
        await inManagementCluster(place, connect, (cluster) =>
          annotateCluster(within(cluster), { name, namespace }, (annotations) => ({
            [REVOKED_BEFORE]: undo ? undefined : revocationTime(annotations[REVOKED_BEFORE]),
          })),
        );
        say(
          undo
            ? `The certificates of ${name} are valid again, unless they have expired.\n`
            : `The certificates of ${name} are revoked, and it cannot join with the shared token either. To let it join again:\n` +
                `  meshctl cluster token create --cluster ${name}\n`,
        );
        if (!rotateToken) return;
        await inManagementCluster(place, connect, (cluster) => rotateSharedToken(within(cluster), { namespace }));
        say(ROTATED);
      });
    });
}

interface RevokeOptions extends ManagementTarget {
  readonly undo?: true;
  readonly rotateToken?: true;
  readonly dryRun?: true;
}

function replaceCommand(io: Io, connect: Connect): Command {
  return inManagement(new Command("replace").argument("<name>", "name of the cluster"))
    .description(
      "Allow a different cluster, once, to register with an existing name, because the cluster that has the name no longer exists.",
    )
    .addOption(dryRunOption())
    .addHelpText("after", REPLACE_HELP)
    .action(async (name: string, { dryRun, ...place }: ManagementTarget & { readonly dryRun?: true }) => {
      const { REPLACE } = await import("@isthmus/plane/installation");
      const { annotateCluster } = await import("../../cluster/annotate.ts");
      const isDone = await doneOrTried(io, dryRun, (within) =>
        inManagementCluster(place, connect, (cluster) =>
          annotateCluster(within(cluster), { name, namespace: place.namespace }, () => ({ [REPLACE]: new Date().toISOString() })),
        ),
      );
      if (!isDone) return;
      io.note(
        `The next different cluster that registers as ${name} gets the name; the cluster that has it now is then disconnected. The new cluster needs a join token:\n  meshctl cluster token create --cluster ${name}\n`,
      );
    });
}

/** Now, in the whole seconds that certificates count in, and always later than the time before: it revokes what was issued since. */
function revocationTime(before: string | undefined): string {
  const last = Date.parse(before ?? "");
  const now = Math.floor(Date.now() / 1000) * 1000;
  return new Date(Number.isNaN(last) ? now : Math.max(now, last + 1000)).toISOString();
}

// Source: decisions on the relay, “single use, 1 h by default”.
const DEFAULT_LIFETIME_MS = 3_600_000;

const TOKEN_HELP = `
The token is printed to standard output, the instructions to standard error.
${WRITE_EXIT_CODES}

Examples:
  # Create a token with which cluster east can join within the next hour
  meshctl cluster token create --cluster east

  # Apply it directly in the workload cluster, with the root certificate to verify the server
  meshctl cluster token create --context mgmt --cluster east --ttl 10m --manifest | kubectl --context east apply -f -`;

const SHARED_HELP = `${READ_EXIT_CODES}

Examples:
  # Apply them directly in the workload cluster west
  meshctl cluster token shared --context mgmt | kubectl --context west apply -f -

  # Only the token
  meshctl cluster token shared --context mgmt -o json | jq -r '.items[].data.token | values | @base64d'`;

const ROTATED = `The Secret relay-identity-token-secret of the management cluster has a new shared token, which running servers use.
Agents with a certificate need no token. An agent that has not registered yet needs a join token, or the new shared token:
  meshctl cluster token shared
A server that has its token from RELAY_TOKEN or --relay-token does not read the Secret: change it there. Where agents have no
certificates, all of them need the new token now.
`;

const REVOKE_HELP = `
The last known state of the cluster is still used, as when its agent is offline; delete its KubernetesCluster to prune it.
${WRITE_EXIT_CODES}

Examples:
  meshctl cluster revoke east
  # Its Secrets may have leaked: invalidate the shared token, too
  meshctl cluster revoke east --rotate-token
  meshctl cluster revoke east --undo`;

const REPLACE_HELP = `${WRITE_EXIT_CODES}

Examples:
  # Cluster east was rebuilt, and its agent reports that another cluster has the name
  meshctl cluster replace east

  # What would be changed
  meshctl cluster replace east --context mgmt --dry-run`;

import { UsageError } from "@isthmus/core";
import { Command } from "commander";
import { inManagementCluster, type ManagementTarget } from "../../cluster/managementCluster.ts";
import { examples } from "../commandLine/helpText.ts";
import { type CommandRuntime, inManagement } from "../commandRuntime.ts";
import { doneOrTried, dryRunOption } from "../dryRun.ts";

interface AcceptOptions extends ManagementTarget {
  readonly dryRun?: true;
}

/** `meshctl cluster trust-domain accept`: which trust domain the meshes of a cluster have. */
export function trustDomainCommand({ io, connect }: CommandRuntime): Command {
  const accept = new Command("accept")
    .argument("<name>", "name of the cluster")
    .argument("<trust-domain>", "the trust domain that its mesh configuration names");
  const group = new Command("trust-domain").description("Decide which trust domain the meshes of a cluster have.");
  return group.addCommand(
    inManagement(accept)
      .description("Use another trust domain for the meshes of a cluster than the last known one.")
      .addOption(dryRunOption())
      .addHelpText("after", ACCEPT_HELP)
      .action(async (name: string, trustDomain: string, { dryRun, ...place }: AcceptOptions) => {
        const { isTrustDomain } = await import("@isthmus/translators");
        if (!isTrustDomain(trustDomain)) {
          throw new UsageError(
            `${JSON.stringify(trustDomain.slice(0, 80))} is not a trust domain: it must be a DNS name such as east.example`,
          );
        }
        const { setInRegistration } = await import("./setInRegistration.ts");
        const { namespace } = place;
        const isDone = await doneOrTried(io, dryRun, (within) =>
          inManagementCluster(place, connect, async (cluster, signal) => {
            const set = (spec: object) => ({ ...spec, trustDomain });
            await setInRegistration({ io, cluster, target: within(cluster), name, namespace, field: "trustDomain", set }, signal);
          }),
        );
        if (isDone) io.note(`${name}: AccessPolicies name its callers by ${trustDomain}, once its mesh configuration does\n`);
      }),
  );
}

const ACCEPT_HELP = `
Sets spec.trustDomain of the KubernetesCluster. AccessPolicies name the callers of a cluster by its trust domain: a mesh keeps the one that it was first
seen with, so that nobody in the cluster can have its callers taken for those of another one.

Exit codes: 0 it is set, 2 usage error or no answer.
${examples("# After trustDomain was changed in the mesh configuration of east", "meshctl cluster trust-domain accept east east.example", "# What would be written", "meshctl cluster trust-domain accept east east.example --dry-run")}`;

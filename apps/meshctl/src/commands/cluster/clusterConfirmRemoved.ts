import { Mesh } from "@isthmus/api";
import { UsageError } from "@isthmus/core";
import { Command } from "commander";
import { inManagementCluster, type ManagementTarget } from "../../cluster/managementCluster.ts";
import { examples } from "../commandLine/helpText.ts";
import { type CommandRuntime, inManagement } from "../commandRuntime.ts";
import { doneOrTried, dryRunOption } from "../dryRun.ts";

interface ConfirmOptions extends ManagementTarget {
  readonly dryRun?: true;
}

/** `meshctl cluster confirm-removed`: that a control plane, or Cilium, is gone on purpose. */
export function confirmRemovedCommand({ io, connect }: CommandRuntime): Command {
  const confirm = new Command("confirm-removed")
    .argument("<name>", "name of the cluster")
    .argument("<namespace/name>", "the Deployment of the control plane, or the DaemonSet of Cilium, that is gone");
  return inManagement(confirm)
    .description("Confirm that a control plane, or Cilium, was removed from a cluster on purpose.")
    .addOption(dryRunOption())
    .addHelpText("after", HELP)
    .action(async (name: string, removed: string, { dryRun, ...place }: ConfirmOptions) => {
      if (!isPlaceAndName(removed)) {
        throw new UsageError(
          `${JSON.stringify(removed.slice(0, 80))} is not NAMESPACE/NAME: give what the message names, such as istio-system/istiod`,
        );
      }
      const { setInRegistration } = await import("./setInRegistration.ts");
      const { registeredCluster } = await import("../../plane/describe/printCluster.ts");
      const { namespace } = place;
      const isDone = await doneOrTried(io, dryRun, (within) =>
        inManagementCluster(place, connect, async (cluster, signal) => {
          // Its error has the nearest name.
          await registeredCluster({ cluster, name, namespace }, signal);
          const { items } = await cluster.list(Mesh, { namespace }, signal);
          const kept = items.flatMap(({ spec }) => [spec?.held?.reason ?? "", spec?.cilium?.held ?? ""]);
          if (!kept.some((reason) => reason.endsWith(` ${name} ${removed}`))) {
            throw new UsageError(`nothing is kept for ${removed} of ${name}: spec.held of its Meshes says what is: meshctl describe mesh`);
          }
          const set = (spec: { readonly removed?: readonly string[] }) => ({
            ...spec,
            removed: [...new Set([...(spec.removed ?? []), removed])],
          });
          await setInRegistration({ io, cluster, target: within(cluster), name, namespace, field: "removed", set }, signal);
        }),
      );
      if (isDone)
        io.note(`${name}: what policies wrote for ${removed} is now deleted; remove it from spec.removed before you install it again\n`);
    });
}

function isPlaceAndName(text: string): boolean {
  const parts = text.split("/");
  return parts.length === 2 && parts.every((part) => part.trim() !== "");
}

const HELP = `
Adds to spec.removed of the KubernetesCluster. What policies and VirtualMeshes wrote for a control plane that is gone stays as it is, so that nobody takes access
rules away by deleting a Deployment; this confirms that it was removed on purpose.

Exit codes: 0 it is set, 2 usage error or no answer.
${examples("# After Istio was uninstalled from east", "meshctl cluster confirm-removed east istio-system/istiod", "# What would be written", "meshctl cluster confirm-removed east kube-system/cilium --dry-run")}`;

import { Mesh } from "@isthmus/api";
import { UsageError } from "@isthmus/core";
import { Command } from "commander";
import { inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";
import { doneOrTried, dryRunOption } from "./dryRun.ts";
import { examples } from "./helpText.ts";

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
      const { registeredCluster } = await import("../plane/describe/printCluster.ts");
      const { appliersOf } = await import("../cluster/clusterMode.ts");
      const { updateRegistration } = await import("../cluster/annotate.ts");
      const { namespace } = place;
      const isDone = await doneOrTried(io, dryRun, (within) =>
        inManagementCluster(place, connect, async (cluster, signal) => {
          const before = await registeredCluster({ cluster, name, namespace }, signal);
          const { items } = await cluster.list(Mesh, { namespace }, signal);
          const kept = items.flatMap(({ spec }) => [spec?.held?.reason ?? "", spec?.cilium?.held ?? ""]);
          if (!kept.some((reason) => reason.endsWith(` ${name} ${removed}`))) {
            throw new UsageError(`${removed} of ${name} is not gone, or nothing is kept because of it: see meshctl describe mesh`);
          }
          const set = (found: typeof before) => ({
            ...found,
            spec: { ...found.spec, removed: [...new Set([...(found.spec?.removed ?? []), removed])] },
          });
          await updateRegistration(within(cluster), { name, namespace }, set, signal);
          const appliers = appliersOf(before, "removed");
          if (appliers.length > 0) {
            io.note(
              `${io.colors.yellow("warning:")} spec.removed of KubernetesCluster ${namespace}/${name} is also applied by ${appliers.join(", ")}, which may set it again: change it there, too\n`,
            );
          }
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

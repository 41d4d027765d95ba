import { Command } from "commander";
import { inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import type { KindName } from "../plane/kinds.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";

interface Described {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly kind: KindName;
}

// Source of names and aliases: the published `meshctl describe`.
const DESCRIBED: readonly Described[] = [
  { name: "mesh", aliases: ["meshes"], kind: "Mesh" },
  { name: "workload", aliases: ["workloads"], kind: "Workload" },
  { name: "destination", aliases: ["destinations"], kind: "Destination" },
  { name: "virtualmesh", aliases: ["virtualmeshes", "vmesh", "vmeshes"], kind: "VirtualMesh" },
  { name: "trafficpolicy", aliases: ["trafficpolicies"], kind: "TrafficPolicy" },
  { name: "accesspolicy", aliases: ["accesspolicies"], kind: "AccessPolicy" },
];

/** `meshctl describe KIND`: what belongs together, in one table. */
export function describeCommand(runtime: CommandRuntime): Command {
  const group = new Command("describe").description("Describe discovered objects and policies, with what applies to them.");
  for (const described of DESCRIBED) group.addCommand(describeKindCommand(described, runtime));
  return group.addHelpText("after", HELP);
}

function describeKindCommand({ name, aliases, kind }: Described, { io, connect }: CommandRuntime): Command {
  const command = new Command(name)
    .aliases([...aliases])
    .description(`Describe ${kind} objects of all namespaces.`)
    .argument("[names...]", "only these: name, or namespace/name")
    .option("-s, --search <text,...>", "only objects whose name contains one of these texts");
  return inManagement(command, { namespaceOption: false }).action(
    async (names: readonly string[], { search, ...place }: Omit<ManagementTarget, "namespace"> & { readonly search?: string }) => {
      const { printDescription } = await import("../plane/describe/printDescription.ts");
      const terms = (search ?? "").split(",").filter((term) => term !== "");
      await inManagementCluster({ namespace: "", ...place }, connect, (cluster, signal) =>
        printDescription({ io, cluster, kind, names, search: terms }, signal),
      );
    },
  );
}

const HELP = `
Examples:
  # Which policies apply to the service reviews, in each cluster
  meshctl describe destination -s reviews

  # One policy: what it selects, and its state on each target
  meshctl describe trafficpolicy bookinfo/slow`;

import { Command, Option } from "commander";
import { inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import type { KindName } from "../plane/kinds.ts";
import { examples, READ_EXIT_CODES } from "./commandLine/helpText.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";

interface Described {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly kinds: readonly KindName[];
}

// Source of names and aliases: the published `meshctl describe`; policies and virtualdestination are ours.
const DESCRIBED: readonly Described[] = [
  of("Mesh", "meshes"),
  of("Workload", "workloads"),
  of("Destination", "destinations", "dest"),
  {
    name: "policies",
    aliases: ["policy"],
    description: "Describe TrafficPolicies, AccessPolicies, VirtualMeshes and VirtualDestinations of all namespaces.",
    kinds: ["TrafficPolicy", "AccessPolicy", "VirtualMesh", "VirtualDestination"],
  },
  of("VirtualMesh", "virtualmeshes", "vmesh", "vmeshes"),
  of("VirtualDestination", "virtualdestinations", "vdest"),
  of("TrafficPolicy", "trafficpolicies"),
  of("AccessPolicy", "accesspolicies"),
];

function of(kind: KindName, ...aliases: readonly string[]): Described {
  return { name: kind.toLowerCase(), aliases, description: `Describe ${kind} objects of all namespaces.`, kinds: [kind] };
}

/** `meshctl describe KIND`: what belongs together, in one table. */
export function describeCommand(runtime: CommandRuntime): Command {
  const group = new Command("describe").description("Describe discovered objects and policies, with what applies to them.");
  for (const described of DESCRIBED) group.addCommand(describeKindCommand(described, runtime));
  return group.addHelpText("after", HELP);
}

interface DescribeOptions extends Omit<ManagementTarget, "namespace"> {
  readonly search?: string;
  readonly output: "table" | "json" | "yaml";
}

function describeKindCommand({ name, aliases, description, kinds }: Described, { io, connect, now }: CommandRuntime): Command {
  const command = new Command(name)
    .aliases([...aliases])
    .description(description)
    .argument("[names...]", "only these: name, or namespace/name")
    .option("-s, --search <text,...>", "only objects whose name contains one of these texts")
    .addOption(
      new Option("-o, --output <format>", "table, or the objects themselves: json or yaml")
        .choices(["table", "json", "yaml"])
        .default("table"),
    )
    .addHelpText("after", READ_EXIT_CODES + examples(`meshctl describe ${name} -s reviews`, `meshctl describe ${name} -o yaml`));
  return inManagement(command, { namespaceOption: false }).action(
    async (names: readonly string[], { search, output, ...place }: DescribeOptions) => {
      const { printDescription } = await import("../plane/describe/printDescription.ts");
      const terms = (search ?? "").split(",").filter((term) => term !== "");
      await inManagementCluster({ namespace: "", ...place }, connect, (cluster, signal) =>
        printDescription({ io, cluster, kinds, names, search: terms, format: output, now: now() }, signal),
      );
    },
  );
}

const HELP = `
Examples:
  # Which policies apply to the service reviews, in each cluster
  meshctl describe destination -s reviews

  # One policy: what it selects, and its state on each target
  meshctl describe trafficpolicy bookinfo/slow

  # All policies whose name contains reviews
  meshctl describe policies -s reviews`;

import { Command, Option } from "commander";
import type { ExitCode, Io } from "../io.ts";
import type { TranslateCommandOptions } from "../offline/translateOptions.ts";
import { failOnOption, fileOption, snapshotOption } from "./validate.ts";

/** `meshctl translate`: files in, files out, no cluster needed. */
export function translateCommand(io: Io, finish: (code: ExitCode) => void): Command {
  return new Command("translate")
    .description("Translate resources in files into the objects that Isthmus would write to each cluster. Does not need a cluster.")
    .argument("[files...]", "files or directories with YAML or JSON; - reads standard input")
    .addOption(fileOption())
    .addOption(snapshotOption())
    .addOption(
      new Option(
        "--stage <stage>",
        "discovery: only discovery; networking: only translation of the discovered objects in the input; all: both",
      )
        .choices(["discovery", "networking", "all"])
        .default("all"),
    )
    .option(
      "--status",
      "also print the statuses of resources: on standard output, of a resource in the input the status alone, which kubectl must not apply; with --cluster or --out-dir, the whole resource",
    )
    .addOption(new Option("-o, --output <format>", "output format").choices(["yaml", "json"]).default("yaml"))
    .option("--cluster <name>", "only print objects of this cluster, without metadata.clusterName, as input for kubectl")
    .option(
      "--out-dir <directory>",
      "write one file per cluster, CLUSTER.yaml, as input for kubectl and istioctl; management.yaml is for the management cluster",
    )
    .addOption(failOnOption())
    .option("-n, --namespace <name>", "namespace of the management plane", "gloo-mesh")
    .option("--agent-cluster <name>", "treat all input as coming from this cluster")
    .option("--disallow-intersecting-config", "reject policies whose host is already configured by a user-created Istio resource")
    .addHelpText("after", HELP)
    .action(async (files: readonly string[], options: TranslateCommandOptions) => {
      // Loaded when it is needed: the translators and their schemas are most of the program.
      const { translateFiles } = await import("../offline/translateFiles.ts");
      finish(await translateFiles(files, options, io));
    });
}

const HELP = `
Input: any mix of Kubernetes, Istio and Gloo Mesh resources, as multi-document YAML or JSON, including Lists. metadata.clusterName
is the cluster of an object; without it, the object is from the management cluster. Meshes, Workloads and Destinations in the
input are used; others are discovered from Kubernetes objects. Status documents from an earlier --status run are ignored and recomputed:
give the resources that they are about as well.

Exit codes: 0 no finding is as bad as --fail-on, 1 at least one is, 2 usage error or unreadable input.

Examples:
  # Dump a cluster, with the cluster name on each object
  kubectl get -A -o json nodes,namespaces,deployments,replicasets,daemonsets,statefulsets,pods,services,endpointslices,configmaps |
    jq '.items[].metadata.clusterName = "east"' > east.json

  # Translate the dumps of two clusters and a directory of policies
  meshctl translate east.json west.json policies/

  # Translate the discovered objects and policies of a running management cluster, as one JSON List
  kubectl get -A -o yaml meshes,workloads,destinations,virtualmeshes,trafficpolicies | meshctl translate - --stage networking -o json

  # Show what would change in cluster east
  meshctl translate east.json west.json policies/ --cluster east | kubectl diff --context east -f -

  # Analyze the result with Istio
  meshctl translate east.json west.json policies/ --out-dir generated && istioctl analyze --use-kube=false generated/east.yaml

  # Check that all policies are accepted: see the findings on standard error and the exit code
  meshctl translate east.json west.json policies/ --status`;

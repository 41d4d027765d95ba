import { UsageError } from "@isthmus/core";
import { Command, Option } from "commander";
import { readUserConfig, SETTINGS, type UserConfig } from "../cluster/userConfig.ts";
import type { CommandRuntime } from "./commandRuntime.ts";

interface ViewOptions {
  readonly output: "table" | "json" | "yaml";
}

/** One line of `meshctl config view`. */
interface Row {
  readonly setting: string;
  readonly value: string;
  readonly from: string;
}

/** `meshctl config view`: what commands use where the command line says nothing else, and where each value is from. */
export function configCommand({ io, finish }: Pick<CommandRuntime, "io" | "finish">): Command {
  const group = new Command("config").description("Show the settings that all commands share.");
  group.addCommand(
    new Command("view")
      .description("Print the settings of variables and of the configuration file, and where each is from.")
      .allowExcessArguments(false)
      .addOption(new Option("-o, --output <format>", "table, json or yaml").choices(["table", "json", "yaml"]).default("table"))
      .addHelpText("after", HELP)
      .action(async ({ output }: ViewOptions) => {
        const config = await readUserConfig();
        const rows = rowsOf(config, await kubeconfigRows(config));
        const { columnsText } = await import("../output/columns.ts");
        const { dataText } = await import("../plane/dataText.ts");
        await io.out(
          output === "table"
            ? columnsText(
                ["SETTING", "VALUE", "FROM"],
                rows.map(({ setting, value, from }) => [setting, value, from]),
                { width: io.columns },
              )
            : dataText({ file: config.file ?? null, settings: rows }, output),
        );
        finish(0);
      }),
  );
  return group;
}

function rowsOf({ settings, clusters, file }: UserConfig, kubeconfig: Readonly<Record<"kubeconfig" | "context", Row>>): readonly Row[] {
  const namespace = settings.namespace ?? { value: SETTINGS.namespace.fallback ?? "", from: "default" };
  return [
    kubeconfig.kubeconfig,
    kubeconfig.context,
    { setting: "namespace", ...namespace },
    ...[...clusters].map(([name, context]) => ({ setting: `clusters.${name}`, value: context, from: file ?? "" })),
  ];
}

/** What kubectl uses where nothing is set, as far as there is a kubeconfig. */
async function kubeconfigRows({ settings }: UserConfig): Promise<Readonly<Record<"kubeconfig" | "context", Row>>> {
  const { kubeconfig, context } = settings;
  const rows = {
    kubeconfig: { setting: "kubeconfig", ...(kubeconfig ?? { value: "", from: "default: the home directory" }) },
    context: { setting: "context", ...(context ?? { value: "", from: "" }) },
  };
  if (context !== undefined) return rows;
  try {
    const { loadKubeconfig } = await import("@isthmus/kubernetes");
    const loaded = loadKubeconfig(
      kubeconfig === undefined || kubeconfig.from === SETTINGS.kubeconfig.variable ? {} : { path: kubeconfig.value },
    );
    return { ...rows, context: { setting: "context", value: loaded.context, from: "current context of the kubeconfig" } };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { ...rows, context: { setting: "context", value: "", from: `unknown: ${error.message}` } };
  }
}

const HELP = `
The file is ~/.config/meshctl/config.yaml (or in XDG_CONFIG_HOME), or the one that MESHCTL_CONFIG names; an empty MESHCTL_CONFIG means none:

  context: mgmt               # of the management cluster
  kubeconfig: /home/me/fleet  # where these contexts are
  namespace: gloo-mesh        # of the management plane
  clusters:                   # the context of each workload cluster, by the name under which it is registered
    east: kind-east

An option counts before a variable (KUBECONFIG, MESHCTL_CONTEXT, MESHCTL_NAMESPACE), a variable before the file, the file before the current
context. With --kubeconfig, contexts are those of that file: context and clusters of the configuration do not count then.

Exit codes: 0 printed, 2 the file cannot be read.

Examples:
  meshctl config view
  MESHCTL_CONTEXT=mgmt meshctl config view -o json`;

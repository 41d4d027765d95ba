import type { Command } from "commander";
import { readUserConfig, SETTINGS } from "../cluster/userConfig.ts";

/** Which options of a command are filled in from the user's configuration, where the command line does not have them. */
export interface DefaultedOptions {
  /** The kubeconfigs in which the context may be, by which the first one is filled in. */
  readonly kubeconfigs: readonly [string, ...string[]];
  readonly context: string;
  readonly namespace?: string;
}

/**
 * Fills in what the command line leaves out: variables, then the file. A kubeconfig on the command line has contexts of its own, so the context of the
 * configuration counts only without one.
 */
export function withUserDefaults(command: Command, { kubeconfigs, context, namespace }: DefaultedOptions): Command {
  return command.hook("preAction", async (_, action) => {
    const { settings } = await readUserConfig();
    const hasOwnKubeconfig = kubeconfigs.some((name) => isGiven(action, name));
    if (!hasOwnKubeconfig) fill(action, context, settings.context?.value);
    // KUBECONFIG may list several files: what reads kubeconfigs takes them from the variable itself.
    if (!hasOwnKubeconfig && settings.kubeconfig?.from !== SETTINGS.kubeconfig.variable)
      fill(action, kubeconfigs[0], settings.kubeconfig?.value);
    if (namespace !== undefined) fill(action, namespace, settings.namespace?.value);
  });
}

/** Fills in the context of the workload cluster that the command line names; `nameOf` gives its name, or throws UsageError. */
export function withClusterContext(command: Command, option: string, nameOf: (action: Command) => string): Command {
  return command.hook("preAction", async (_, action) => {
    if (isGiven(action, "kubeconfig") || isGiven(action, option)) return;
    const { clusters } = await readUserConfig();
    if (clusters.size > 0) fill(action, option, clusters.get(nameOf(action)));
  });
}

function isGiven(action: Command, name: string): boolean {
  return action.getOptionValueSource(name) === "cli";
}

function fill(action: Command, name: string, value: string | undefined): void {
  if (value !== undefined && !isGiven(action, name)) action.setOptionValueWithSource(name, value, "config");
}

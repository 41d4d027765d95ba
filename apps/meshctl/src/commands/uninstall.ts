import { formatRef, refOf, UsageError } from "@isthmus/core";
import { Command, Option } from "commander";
import type { RemovalPlan } from "../cluster/install/uninstallPlane.ts";
import { inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import { terminalColumns } from "./commandLine/terminal.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";

interface UninstallOptions extends ManagementTarget {
  readonly crds?: true;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly force?: true;
}

/** `meshctl uninstall`: what `meshctl install` has applied. */
export function uninstallCommand({ io, connect }: CommandRuntime): Command {
  return (
    inManagement(new Command("uninstall"), { requestTimeout: false })
      .description("Delete the management plane that meshctl installed. Lists first what is deleted and what is kept.")
      .option("--crds", "also delete the CRDs that meshctl created, and with them every object of their kinds")
      .option("-d, --dry-run", "only list what would be deleted and kept")
      .option("-y, --yes", "do not ask")
      // Of the published command, which has one name for it.
      .addOption(new Option("--release-name <name>").choices(["gloo-mesh"]).hideHelp())
      .option("--force", "although clusters are registered")
      .addHelpText("after", HELP)
      .action(async ({ crds, dryRun, yes, force, ...place }: UninstallOptions) => {
        const { planRemoval, removePlane } = await import("../cluster/install/uninstallPlane.ts");
        const { hintsIn } = await import("../cluster/register/hints.ts");
        const { namedCluster } = await import("../cluster/namedCluster.ts");
        const { systemClock } = await import("@isthmus/plane/clock");
        const { wrapped } = await import("../output/fit.ts");
        const columns = io.columns ?? terminalColumns();
        const { namespace } = place;
        await inManagementCluster(place, connect, async (management) => {
          const cluster = namedCluster(management, "management cluster");
          const removal = { cluster, namespace, withDefinitions: crds === true, force: force === true, hints: hintsIn(place) };
          const plan = await planRemoval(removal);
          const list = listText(plan, (text) => wrapped(text, columns - 2).join("\n  "));
          if (dryRun === true) return io.out(list);
          io.err(list);
          if (plan.deleted.length === 0) return;
          if (yes !== true) await confirm();
          await removePlane(cluster, plan, { clock: systemClock, say: (line) => io.note(`${line}\n`) });
          io.note(`The management plane is uninstalled from namespace ${namespace}.\n`);
        });
      })
  );

  /** Throws UsageError unless the user agrees. */
  async function confirm(): Promise<void> {
    if (io.ask === undefined) throw new UsageError("nothing was deleted: this is no terminal to ask on: add --yes");
    if (!(await io.ask("Delete this?"))) throw new UsageError("nothing was deleted");
  }
}

function listText({ deleted, lost, stays }: RemovalPlan, line: (text: string) => string): string {
  const names = deleted.map(({ desired }) => formatRef(refOf(desired)));
  const section = (title: string, texts: readonly string[]): string =>
    texts.length === 0 ? "" : `${title}:\n${texts.map((text) => `  ${line(text)}\n`).join("")}`;
  const going = names.length === 0 ? "Nothing that meshctl installed is here.\n" : section("To be deleted", names);
  return going + section("Lost with their CRDs", lost) + section("Kept", stays);
}

const HELP = `
What meshctl did not create is kept, and an installation by Helm is refused. The Secrets of the relay, the data of Redis and, without --crds,
all resources of users are kept, as are agents and the mesh configuration in workload clusters.

Exit codes: 0 uninstalled, 2 usage error, no answer, not confirmed, or not everything could be deleted.

Examples:
  meshctl uninstall --context mgmt

  # In a script, with all resources of users
  meshctl uninstall --context mgmt --crds --yes`;

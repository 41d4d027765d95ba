import { afterAll, beforeAll, expect } from "vitest";
import { clusterAt } from "../../harness/clusters.ts";
import type { Components } from "../../harness/components.ts";
import { describeMeshes } from "./describeMeshes.ts";
import { removeInstallation } from "./removeInstallation.ts";
import { startTestbed, type Testbed, type TestbedOptions } from "./testbed.ts";

/** Describes a suite on a testbed that it shares with others: they run one after the other. */
export type DescribeOnTestbed = (name: string, cases: (testbed: () => Testbed, components: Components) => void) => void;

/**
 * One testbed for all suites of a test file, started by the first of them. Between two of them all is deleted that was applied, and that programs of
 * ours and their users have written: a suite itself stops what it started, and makes servers well that it made ill.
 */
export function sharedTestbed(options: Omit<TestbedOptions, "parts">): DescribeOnTestbed {
  let starting: Promise<Testbed> | undefined;
  let testbed: Testbed | undefined;
  let suites = 0;
  afterAll(() => testbed?.stop());

  function running(): Testbed {
    if (testbed === undefined) throw new Error("the meshes did not start");
    return testbed;
  }

  async function reset({ apply, clusters, kubeconfig }: Testbed): Promise<void> {
    const places = [...clusters, ...(options.management === true ? (["management"] as const) : [])];
    await Promise.all(places.map((place) => removeInstallation(clusterAt(kubeconfig(place), place))));
    // Waits for the proxies.
    const { objects, synced } = await apply({});
    expect({ refused: objects.filter(({ ok }) => !ok), synced }).toEqual({ refused: [], synced: true });
  }

  return (name, cases) => {
    const suite = ++suites;
    describeMeshes(name, (parts) => {
      beforeAll(async () => {
        starting ??= startTestbed({ parts, ...options });
        testbed = await starting;
      });
      // Hooks run in the reverse order: this one after those of the suite.
      afterAll(async () => {
        if (testbed !== undefined && suite < suites) await reset(testbed);
      });
      cases(running, parts.components);
    });
  };
}

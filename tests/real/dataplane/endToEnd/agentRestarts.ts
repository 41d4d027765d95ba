import { describe, expect, it } from "vitest";
import { waitFor } from "../../harness/waitFor.ts";
import { expectAll } from "../harness/expectations.ts";
import { virtualMesh } from "../harness/resources.ts";
import type { EndToEnd } from "./endToEnd.ts";
import { abort, hosts, ownRoute, ownRouteWorks, shiftTo } from "./objects.ts";

/** Requests that must have been answered while an agent does not run: three seconds' worth. */
const MEANWHILE = 60;

export function agentRestartCases(endToEnd: () => EndToEnd): void {
  describe("an agent that ends by", () => {
    it.each(["SIGTERM", "SIGKILL"] as const)(
      "%s leaves traffic as it is, and carries out afterwards what changed meanwhile",
      async (signal) => {
        const { agents, applied, soon, statusOf, traffic, usersWrite } = endToEnd();
        const agent = agents["cluster-1"];
        await usersWrite({ management: [virtualMesh(), shiftTo("cluster-2"), abort(418)], "cluster-1": [ownRoute] });
        await soon({ host: hosts.reviews }, (answers) => expectAll(answers, 200, "cluster-2"));
        await soon({ host: hosts.productpage }, (answers) => expectAll(answers, 418));
        await ownRouteWorks(endToEnd());
        await applied(shiftTo("cluster-2"));

        const shifted = await traffic({ host: hosts.reviews });
        const aborted = await traffic({ client: "cluster-1/sleep", host: hosts.productpage });
        await (signal === "SIGTERM" ? agent.program.stop() : agent.program.kill());
        // One policy is changed, another one deleted.
        const changed = shiftTo("cluster-1");
        await usersWrite({ management: [virtualMesh(), changed], "cluster-1": [ownRoute] });
        await waitFor("the status to say that the change is accepted and not applied", async () => {
          expect(await statusOf(changed)).toEqual({ state: "ACCEPTED", applied: "False" });
          return true;
        });
        const since = [shifted.count(), aborted.count()];
        await waitFor("traffic without the agent", () =>
          [shifted, aborted].every(({ count }, i) => count() >= (since[i] ?? 0) + MEANWHILE),
        );
        expect(shifted.answersBut("200 cluster-2/")).toEqual({});
        expect(aborted.answersBut("418")).toEqual({});

        await agent.restart();
        await soon({ host: hosts.reviews }, (answers) => expectAll(answers, 200, "cluster-1/reviews-v1"));
        await soon({ host: hosts.productpage }, (answers) => expectAll(answers, 200, "cluster-1"));
        await applied(changed);
        await ownRouteWorks(endToEnd());
        // From before the end of the agent until now.
        expect(shifted.answersBut("200 ")).toEqual({});
      },
    );
  });
}

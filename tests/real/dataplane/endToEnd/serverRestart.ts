import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { changesBetween, written } from "../../harness/slice.ts";
import { waitFor } from "../../harness/waitFor.ts";
import { expectAll } from "../harness/expectations.ts";
import { virtualMesh } from "../harness/resources.ts";
import { clusterNames } from "../harness/testbed.ts";
import type { EndToEnd } from "./endToEnd.ts";
import { abort, hosts, ownRoute, ownRouteWorks, shiftTo } from "./objects.ts";

/** Requests that must have been answered while the server does not run: three seconds' worth. */
const MEANWHILE = 60;
const SETTLING_MS = 3_000;
const ROUTE = "VirtualService reviews.bookinfo";
const FAULT = "VirtualService productpage.bookinfo";

export function serverRestartCases(endToEnd: () => EndToEnd): void {
  describe("a management server that is killed", () => {
    it("leaves traffic as it is, deletes nothing, and carries out afterwards what changed meanwhile", async () => {
      const { applied, clusters, server, soon, statusOf, traffic, usersWrite } = endToEnd();
      await usersWrite({ management: [virtualMesh(), shiftTo("cluster-2"), abort(418)], "cluster-1": [ownRoute] });
      await soon({ host: hosts.reviews }, (answers) => expectAll(answers, 200, "cluster-2"));
      await soon({ host: hosts.productpage }, (answers) => expectAll(answers, 418));
      await ownRouteWorks(endToEnd());
      for (const object of [virtualMesh(), shiftTo("cluster-2"), abort(418)]) await applied(object);
      const allWritten = () => Promise.all(clusterNames.map((name) => written(clusters[name])));
      // What the case before wrote is perhaps still being deleted, of which no status of this one's tells.
      const [before = {}, beforeInTwo = {}] = await unchanging(allWritten);

      const shifted = await traffic({ host: hosts.reviews });
      const federated = await traffic({ client: "cluster-1/sleep", host: hosts.reviewsOfTwo });
      await server.program.kill();
      // One policy is changed, another one deleted.
      const changed = shiftTo("cluster-1");
      await usersWrite({ management: [virtualMesh(), changed], "cluster-1": [ownRoute] });
      const since = [shifted.count(), federated.count()];
      await waitFor("traffic without the server", () =>
        [shifted, federated].every(({ count }, i) => count() >= (since[i] ?? 0) + MEANWHILE),
      );
      expect(shifted.answersBut("200 cluster-2/")).toEqual({});
      expect(await allWritten()).toEqual([before, beforeInTwo]);
      // No status says that the change is carried out, as it is not.
      expect((await statusOf(changed)).applied).toBeUndefined();

      await server.restart();
      await applied(changed);
      // Not before it was.
      expect(changesBetween(before, await written(clusters["cluster-1"]))).toContain(ROUTE);
      await soon({ host: hosts.reviews }, (answers) => expectAll(answers, 200, "cluster-1/reviews-v1"));
      await soon({ host: hosts.productpage }, (answers) => expectAll(answers, 200, "cluster-1"));
      await ownRouteWorks(endToEnd());
      // From before the end of the server until now.
      expect(shifted.answersBut("200 ")).toEqual({});
      expect(federated.answersBut("200 cluster-2/")).toEqual({});
      // The rest is what was there, not made again: the same uids and versions.
      const [after = {}, afterInTwo = {}] = await allWritten();
      expect(changesBetween(before, after)).toEqual([ROUTE, FAULT].sort());
      expect([uidOf(after[ROUTE]), after[FAULT]]).toEqual([uidOf(before[ROUTE]), undefined]);
      const routes = /^VirtualService (reviews|productpage)-bookinfo-cluster-1\.istio-system$/;
      expect(changesBetween(beforeInTwo, afterInTwo).filter((key) => !routes.test(key))).toEqual([]);
    });
  });
}

/** What is written once it has stayed equal for a while: longer than agents take from one change to the next. */
async function unchanging<Written>(read: () => Promise<Written>): Promise<Written> {
  let last = await read();
  await waitFor("nothing to be written any more", async () => {
    await sleep(SETTLING_MS);
    const now = await read();
    const isEqual = JSON.stringify(now) === JSON.stringify(last);
    last = now;
    return isEqual;
  });
  return last;
}

function uidOf(written: string | undefined): string | undefined {
  return written?.split("/")[0];
}

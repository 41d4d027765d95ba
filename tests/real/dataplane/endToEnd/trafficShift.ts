import { describe, expect, it } from "vitest";
import { expectAll } from "../harness/expectations.ts";
import { virtualMesh } from "../harness/resources.ts";
import type { EndToEnd } from "./endToEnd.ts";
import { hosts, shiftTo } from "./objects.ts";

export function trafficShiftCases(endToEnd: () => EndToEnd): void {
  describe("a traffic shift", () => {
    it("moves traffic to the other cluster and, when it is deleted, back, without losing a request", async () => {
      const { soon, traffic, usersWrite, applied } = endToEnd();
      await usersWrite({ management: [virtualMesh()] });
      await soon({ host: hosts.reviewsOfTwo }, (answers) => expectAll(answers, 200, "cluster-2"));
      await soon({ host: hosts.reviews }, (answers) => expectAll(answers, 200, "cluster-1/reviews-v1"));
      const all = await traffic({ host: hosts.reviews });
      await usersWrite({ management: [virtualMesh(), shiftTo("cluster-2")] });
      await soon({ host: hosts.reviews }, (answers) => expectAll(answers, 200, "cluster-2"));
      await applied(shiftTo("cluster-2"));
      await usersWrite({ management: [virtualMesh()] });
      await soon({ host: hosts.reviews }, (answers) => expectAll(answers, 200, "cluster-1/reviews-v1"));
      expect(all.answersBut("200 ")).toEqual({});
    });

    it("follows its changes: to one version, to another one, to a cluster", async () => {
      const { soon, usersWrite } = endToEnd();
      for (const [policy, place] of [
        [shiftTo("cluster-2", "v2"), "cluster-2/reviews-v2"],
        [shiftTo("cluster-2", "v1"), "cluster-2/reviews-v1"],
        [shiftTo("cluster-1", "v1"), "cluster-1/reviews-v1"],
        [shiftTo("cluster-2"), "cluster-2"],
      ] as const) {
        await usersWrite({ management: [virtualMesh(), policy] });
        await soon({ host: hosts.reviews }, (answers) => expectAll(answers, 200, place));
        // The policy is about cluster-1's reviews.
        await soon({ client: "cluster-2/productpage-v1", host: hosts.reviews }, (answers) => expectAll(answers, 200, "cluster-2"));
      }
    });
  });
}

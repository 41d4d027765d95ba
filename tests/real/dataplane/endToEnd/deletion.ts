import { VirtualService } from "@isthmus/api";
import { describe, expect, it } from "vitest";
import { written } from "../../harness/slice.ts";
import { waitFor } from "../../harness/waitFor.ts";
import { expectAll } from "../harness/expectations.ts";
import { virtualMesh } from "../harness/resources.ts";
import { type EndToEnd, IN_FORCE_MS } from "./endToEnd.ts";
import { hosts, ownRoute, ownRouteWorks, shiftTo } from "./objects.ts";

export function deletionCases(endToEnd: () => EndToEnd): void {
  describe("the deletion of a policy", () => {
    it("removes what came from it, and nothing of a user's own", async () => {
      const { clusters, soon, usersWrite } = endToEnd();
      const first = clusters["cluster-1"];
      await usersWrite({ management: [virtualMesh()], "cluster-1": [ownRoute] });
      await soon({ host: hosts.reviewsOfTwo }, (answers) => expectAll(answers, 200, "cluster-2"));
      await soon({ host: hosts.reviews }, (answers) => expectAll(answers, 200, "cluster-1"));
      await ownRouteWorks(endToEnd());
      const ours = async () => Object.keys(await written(first)).sort();
      const ownVersion = async () =>
        (await first.get(VirtualService, { name: "library", namespace: "bookinfo" }))?.metadata.resourceVersion;
      const [before, versionBefore] = [await ours(), await ownVersion()];

      await usersWrite({ management: [virtualMesh(), shiftTo("cluster-2")], "cluster-1": [ownRoute] });
      await soon({ host: hosts.reviews }, (answers) => expectAll(answers, 200, "cluster-2"));
      expect(await ours()).toEqual([...before, "VirtualService reviews.bookinfo"].sort());

      await usersWrite({ management: [virtualMesh()], "cluster-1": [ownRoute] });
      await soon({ host: hosts.reviews }, (answers) => expectAll(answers, 200, "cluster-1"));
      await waitFor("nothing but the policy's own objects to be gone", async () => expect(await ours()).toEqual(before) ?? true, {
        timeoutMs: IN_FORCE_MS,
      });
      expect(await ownVersion()).toBe(versionBefore);
      await ownRouteWorks(endToEnd());
    });
  });
}

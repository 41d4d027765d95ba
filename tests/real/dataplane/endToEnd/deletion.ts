import { VirtualService } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { written } from "../../harness/slice.ts";
import { waitFor } from "../../harness/waitFor.ts";
import { expectAll } from "../harness/expectations.ts";
import { virtualMesh } from "../harness/resources.ts";
import { type EndToEnd, IN_FORCE_MS } from "./endToEnd.ts";
import { hosts, shiftTo } from "./objects.ts";

const ownRef = { name: "productpage", namespace: "bookinfo" };
/** A user's own: answers all calls of cluster-1's productpage. */
const own: AnyResource = {
  apiVersion: "networking.istio.io/v1",
  kind: "VirtualService",
  metadata: ownRef,
  spec: {
    hosts: [hosts.productpage],
    http: [{ fault: { abort: { httpStatus: 418, percentage: { value: 100 } } }, route: [{ destination: { host: hosts.productpage } }] }],
  },
};

export function deletionCases(endToEnd: () => EndToEnd): void {
  describe("the deletion of a policy", () => {
    it("removes what came from it, and nothing of a user's own", async () => {
      const { clusters, soon, usersWrite } = endToEnd();
      await usersWrite({ management: [virtualMesh()], "cluster-1": [own] });
      await soon({ host: hosts.reviewsOfTwo }, (answers) => expectAll(answers, 200, "cluster-2"));
      await soon({ host: hosts.productpage }, (answers) => expectAll(answers, 418));
      const ours = () => written(clusters["cluster-1"]).then((objects) => Object.keys(objects).sort());
      const before = await ours();
      const untouched = await clusters["cluster-1"].get(VirtualService, ownRef);

      await usersWrite({ management: [virtualMesh(), shiftTo("cluster-2")], "cluster-1": [own] });
      await soon({ host: hosts.reviews }, (answers) => expectAll(answers, 200, "cluster-2"));
      expect(await ours()).toEqual([...before, "VirtualService reviews.bookinfo"].sort());

      await usersWrite({ management: [virtualMesh()], "cluster-1": [own] });
      await soon({ host: hosts.reviews }, (answers) => expectAll(answers, 200, "cluster-1"));
      await waitFor("only the policy's own objects to be gone", async () => expect(await ours()).toEqual(before) ?? true, {
        timeoutMs: IN_FORCE_MS,
      });
      const now = await clusters["cluster-1"].get(VirtualService, ownRef);
      expect(now?.metadata.resourceVersion).toBe(untouched?.metadata.resourceVersion);
      await soon({ host: hosts.productpage }, (answers) => expectAll(answers, 418));
    });
  });
}

import { describe, expect, it } from "vitest";
import { waitFor } from "../../harness/waitFor.ts";
import { expectAll } from "../harness/expectations.ts";
import { virtualMesh } from "../harness/resources.ts";
import type { Answers } from "../harness/testbed.ts";
import type { EndToEnd } from "./endToEnd.ts";
import { hosts } from "./objects.ts";

/** So many requests, a second's, are made once federation is there. */
const AFTERWARDS = 20;

export function federationCases(endToEnd: () => EndToEnd): void {
  describe("federation", () => {
    it("begins with a VirtualMesh and ends with it, in both directions", async () => {
      const { soon, usersWrite, applied } = endToEnd();
      await usersWrite({});
      await soon({ host: hosts.reviewsOfTwo }, unresolved);
      await usersWrite({ management: [virtualMesh()] });
      await soon({ host: hosts.reviewsOfTwo }, (answers) => expectAll(answers, 200, "cluster-2"));
      await soon({ client: "cluster-2/productpage-v1", host: hosts.reviewsOfOne }, (answers) => expectAll(answers, 200, "cluster-1"));
      await applied(virtualMesh());
      await usersWrite({});
      await soon({ host: hosts.reviewsOfTwo }, unresolved);
      await soon({ client: "cluster-2/productpage-v1", host: hosts.reviewsOfOne }, unresolved);
    });

    it("keeps local calls local while it begins", async () => {
      const { soon, traffic, usersWrite } = endToEnd();
      await usersWrite({});
      await soon({ host: hosts.reviewsOfTwo }, unresolved);
      const local = await traffic({ host: hosts.reviews });
      await waitFor("local requests before", () => local.count() > 0);
      await usersWrite({ management: [virtualMesh()] });
      await soon({ host: hosts.reviewsOfTwo }, (answers) => expectAll(answers, 200, "cluster-2"));
      const since = local.count();
      await waitFor("local requests afterwards", () => local.count() >= since + AFTERWARDS);
      expect(local.answersBut("200 cluster-1/reviews-v1")).toEqual({});
    });
  });
}

function unresolved({ status, errors }: Answers): void {
  expect([status, Object.keys(errors)]).toEqual([{}, ["DNS: no such host"]]);
}

import { describe, it } from "vitest";
import { expectAll } from "../harness/expectations.ts";
import { accessPolicy, services, virtualMesh } from "../harness/resources.ts";
import type { EndToEnd } from "./endToEnd.ts";
import { hosts } from "./objects.ts";

const sleep = "cluster-1/sleep";
const productpage = "cluster-1/productpage-v1";
const both = [hosts.reviews, hosts.reviewsOfTwo];

const closed = virtualMesh({ federation: { selectors: [{}] }, globalAccessPolicy: "ENABLED" });
const allowsSleep = accessPolicy({
  sourceSelector: [{ kubeServiceAccountRefs: { serviceAccounts: [{ name: "sleep", namespace: "bookinfo", clusterName: "cluster-1" }] } }],
  destinationSelector: services("reviews"),
});

export function accessPolicyCases(endToEnd: () => EndToEnd): void {
  describe("access control", () => {
    async function soonAll(status: number, client: string): Promise<void> {
      for (const host of both) await endToEnd().soon({ client, host }, (answers) => expectAll(answers, status));
    }

    it("denies, then allows whom an AccessPolicy names, then denies again without it, in both clusters", async () => {
      const { applied, usersWrite } = endToEnd();
      await usersWrite({ management: [virtualMesh()] });
      await soonAll(200, sleep);
      await usersWrite({ management: [closed] });
      await soonAll(403, sleep);
      await usersWrite({ management: [closed, allowsSleep] });
      await soonAll(200, sleep);
      await soonAll(403, productpage);
      await applied(allowsSleep);
      await usersWrite({ management: [closed] });
      await soonAll(403, sleep);
      await usersWrite({ management: [virtualMesh()] });
      await soonAll(200, productpage);
      await soonAll(200, sleep);
    });
  });
}

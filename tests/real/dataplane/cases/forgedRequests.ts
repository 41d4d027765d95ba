import { itAtNight } from "@isthmus/testing/atNight";
import { describe, expect, it } from "vitest";
import type { Meshes } from "../harness/meshes.ts";
import { services, trafficPolicy } from "../harness/resources.ts";

const client = "cluster-1/productpage-v1";
const local = "reviews.bookinfo.svc.cluster.local:9080";
const ofTwo = "reviews.bookinfo.svc.cluster-2.global:9080";

export function forgedRequestCases(meshes: () => Meshes): void {
  describe("protection against forged requests", () => {
    const csrf = { filterEnabled: true, additionalOrigins: [{ exact: "shop.example" }, { suffix: ".partner.example:8443" }] };

    async function statusOf(host: string, method: string, ...headers: readonly string[]): Promise<string | undefined> {
      const head = await meshes().answerHead(client, ["-X", method, ...headers.flatMap((header) => ["-H", header]), `http://${host}/`]);
      return /^HTTP\/1\.1 (\d+)/m.exec(head)?.[1];
    }

    it("lets in what comes from the own origin, or from one that is named, and nothing else", async () => {
      await meshes().apply({ policies: [trafficPolicy({ csrf }, { destinationSelector: services("reviews") })] });
      for (const host of [local, ofTwo]) {
        expect(await statusOf(host, "POST", `Origin: http://${host}`)).toBe("200");
        expect(await statusOf(host, "POST", "Origin: https://shop.example")).toBe("200");
        expect(await statusOf(host, "POST", "Origin: https://a.partner.example:8443")).toBe("200");
        expect(await statusOf(host, "POST", `Referer: http://${host}/page`)).toBe("200");
        for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
          expect(await statusOf(host, method, "Origin: https://evil.example")).toBe("403");
        }
        // As programs call, which are no browsers.
        expect(await statusOf(host, "POST")).toBe("403");
        expect(await statusOf(host, "GET", "Origin: https://evil.example")).toBe("200");
      }
    });

    itAtNight("only counts them where it is configured, and ends with its policy", async () => {
      const forged = () => statusOf(local, "POST", "Origin: https://evil.example");
      const shadow = { shadowEnabled: true, percentage: 12.5 };
      await meshes().apply({ policies: [trafficPolicy({ csrf: shadow }, { destinationSelector: services("reviews") })] });
      await expect.poll(forged, OLD_CONNECTIONS).toBe("200");
      await meshes().apply({ policies: [trafficPolicy({ csrf }, { destinationSelector: services("reviews") })] });
      await expect.poll(forged, OLD_CONNECTIONS).toBe("403");
      await meshes().apply({ policies: [] });
      await expect.poll(forged, OLD_CONNECTIONS).toBe("200");
    });
  });
}

// Proxies keep connections, and a connection keeps the filters that it came to until Envoy has drained it: 45 s, as Istio sets it.
const OLD_CONNECTIONS = { timeout: 70_000, interval: 1000 };

import { itAtNight } from "@isthmus/testing/atNight";
import { describe, expect, it } from "vitest";
import { expectAll } from "../harness/expectations.ts";
import type { Meshes } from "../harness/meshes.ts";
import { service, services, trafficPolicy } from "../harness/resources.ts";

const local = "reviews.bookinfo.svc.cluster.local";
const ofTwo = "reviews.bookinfo.svc.cluster-2.global";
const client = "cluster-1/productpage-v1";

export function headerCases(meshes: () => Meshes): void {
  describe("header manipulation", () => {
    it("adds and removes request and response headers, local and remote", async () => {
      const headerManipulation = {
        appendRequestHeaders: { "x-added": "to-request" },
        removeRequestHeaders: ["x-unwanted"],
        appendResponseHeaders: { "x-answered": "to-response" },
        removeResponseHeaders: ["x-server"],
      };
      await meshes().apply({ policies: [trafficPolicy({ headerManipulation }, { destinationSelector: services("reviews") })] });
      for (const host of [local, ofTwo]) {
        const answers = await meshes().request({ host, count: 1, headers: { "x-unwanted": "1", "x-kept": "2" } });
        expectAll(answers, 200);
        expect(answers.last?.headers).toMatchObject({ "x-added": "to-request", "x-kept": "2" });
        expect(answers.last?.headers).not.toHaveProperty("x-unwanted");
        const head = await meshes().answerHead(client, [`http://${host}:9080/`]);
        expect(head).toMatch(/^x-answered: to-response\r$/m);
        expect(head).not.toMatch(/^x-server:/m);
      }
    });

    itAtNight("is different for each destination of a shift", async () => {
      const to = (clusterName: string, value: string) => ({
        kubeService: { name: "reviews", namespace: "bookinfo", clusterName },
        weight: 50,
        options: { headerManipulation: { appendRequestHeaders: { "x-share": value }, appendResponseHeaders: { "x-from": value } } },
      });
      const trafficShift = { destinations: [to("cluster-1", "near"), to("cluster-2", "far")] };
      await meshes().apply({ policies: [trafficPolicy({ trafficShift }, { destinationSelector: [service("reviews", "cluster-1")] })] });
      const seen = new Set<string>();
      for (let i = 0; i < 24; i++) {
        const head = await meshes().answerHead(client, [`http://${local}:9080/`]);
        seen.add(`${/^x-server: (cluster-\d)/m.exec(head)?.[1]} ${/^x-from: (\w+)/m.exec(head)?.[1]}`);
      }
      expect([...seen].sort()).toEqual(["cluster-1 near", "cluster-2 far"]);
    });
  });

  describe("a CORS policy", () => {
    it("answers preflight requests of allowed origins only", async () => {
      const corsPolicy = {
        allowOrigins: [{ exact: "https://shop.example" }, { prefix: "https://a." }, { regex: "https://[0-9]+\\.example" }],
        allowMethods: ["GET", "POST"],
        allowHeaders: ["x-wanted"],
        exposeHeaders: ["x-shown"],
        maxAge: "90s",
        allowCredentials: true,
      };
      await meshes().apply({ policies: [trafficPolicy({ corsPolicy }, { destinationSelector: services("reviews") })] });
      const preflight = (origin: string) =>
        meshes().answerHead(client, [
          ...["-X", "OPTIONS", "-H", `Origin: ${origin}`, "-H", "Access-Control-Request-Method: POST"],
          `http://${ofTwo}:9080/`,
        ]);
      for (const origin of ["https://shop.example", "https://a.example", "https://42.example"]) {
        const head = await preflight(origin);
        expect(head).toContain(`access-control-allow-origin: ${origin}\r\n`);
        expect(head).toContain("access-control-allow-methods: GET,POST\r\n");
        expect(head).toContain("access-control-allow-headers: x-wanted\r\n");
        expect(head).toContain("access-control-allow-credentials: true\r\n");
        expect(head).toContain("access-control-max-age: 90\r\n");
      }
      expect(await preflight("https://evil.example")).not.toContain("access-control-allow-origin");
    });

    it("lets browsers read the headers that it exposes", async () => {
      const corsPolicy = { allowOrigins: [{ exact: "https://shop.example" }], exposeHeaders: ["x-server"] };
      await meshes().apply({ policies: [trafficPolicy({ corsPolicy }, { destinationSelector: services("reviews") })] });
      const head = await meshes().answerHead(client, ["-H", "Origin: https://shop.example", `http://${local}:9080/`]);
      expect(head).toContain("access-control-allow-origin: https://shop.example\r\n");
      expect(head).toContain("access-control-expose-headers: x-server\r\n");
    });
  });
}

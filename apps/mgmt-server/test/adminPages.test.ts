import type { Server } from "@isthmus/plane";
import { expect, test } from "vitest";
import { serverAdminPages } from "../src/adminPages.ts";

const pending = Array.from({ length: 1_500 }, (_, i) => ({
  ref: { apiVersion: "networking.istio.io/v1", kind: "VirtualService", name: `route-${i}`, namespace: "shop", clusterName: "east" },
  code: "WouldCreate" as const,
  message: "would be created",
}));

const server = { pendingIn: (name: string) => (name === "east" ? pending : []) } as Partial<Server> as Server;

function page(query: string): { readonly items: readonly { readonly object: { readonly name: string }; readonly code: string }[] } {
  const text = [...(serverAdminPages(server)["/pending"]?.(new URLSearchParams(query)) ?? [])].join("");
  return JSON.parse(text) as ReturnType<typeof page>;
}

test("/pending lists what is not written in one cluster, as far as asked, and never more than a thousand", () => {
  expect(page("cluster=east&limit=2").items.map(({ object, code }) => [object.name, code])).toEqual([
    ["route-0", "WouldCreate"],
    ["route-1", "WouldCreate"],
  ]);
  expect(page("cluster=west").items).toEqual([]);
  for (const limit of ["", "&limit=100000", "&limit=0", "&limit=-1", "&limit=all"])
    expect(page(`cluster=east${limit}`).items).toHaveLength(1_000);
});

import { create } from "@bufbuild/protobuf";
import { MAX_RESOURCE_BYTES, type Resource, refOf } from "@isthmus/core";
import { expect, test } from "vitest";
import { ResourceBodySchema } from "../src/gen/relay/v1/relay_pb.ts";
import { bodyOf, refMessage, resourceFrom } from "../src/session/wire.ts";
import { service } from "./sessionFleet.ts";

/** What becomes of an object whose JSON has so many bytes: blanks after it mean nothing. */
function received(bytes: number): object {
  const resource = service("a", "web") as Resource;
  const json = new Uint8Array(bytes).fill(" ".charCodeAt(0));
  json.set(bodyOf(resource));
  return resourceFrom(create(ResourceBodySchema, { ref: refMessage(refOf(resource)), json }));
}

test("an object may be as large as the limit, and not a byte larger", () => {
  expect(received(MAX_RESOURCE_BYTES)).toHaveProperty("resource");
  expect(received(MAX_RESOURCE_BYTES + 1)).toHaveProperty("problem");
});

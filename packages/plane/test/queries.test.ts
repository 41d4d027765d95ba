import { expect, it } from "vitest";
import { answerQuery } from "../src/agent/queries.ts";

it("answers its own topic and those it is given, and no other", async () => {
  let resumed = 0;
  const answer = answerQuery(
    () => ({
      resumeDeletes() {
        resumed += 1;
        return 0;
      },
    }),
    { "access-logs": (body) => body },
  );
  const body = new Uint8Array([1, 2]);
  expect(await answer({ topic: "access-logs", body })).toEqual(body);
  expect(resumed).toBe(0);
  expect(await answer({ topic: "resume-deletes", body })).toEqual(new Uint8Array());
  expect(resumed).toBe(1);
  await expect(answer({ topic: "constructor", body })).rejects.toThrow("this agent does not support the query constructor: upgrade it");
});

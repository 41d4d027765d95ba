import { describeDocument } from "./document.ts";

describeDocument("docs/operations/replicas-and-redis.md");

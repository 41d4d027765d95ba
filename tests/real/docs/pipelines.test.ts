import { describeDocument } from "./document.ts";

describeDocument("docs/operations/pipelines.md");

import { describeDocument } from "./document.ts";

describeDocument("docs/operations/monitoring.md");

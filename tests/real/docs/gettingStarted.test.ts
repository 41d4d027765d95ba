import { describeDocument } from "./document.ts";

describeDocument("docs/getting-started.md");

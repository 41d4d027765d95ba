import { describeDocument } from "./document.ts";

describeDocument("README.md");

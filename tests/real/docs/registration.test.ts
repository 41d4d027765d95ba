import { describeDocument } from "./document.ts";

describeDocument("docs/registration.md");

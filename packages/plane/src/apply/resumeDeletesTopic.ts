/** Topic of the query by which the server has an agent resume deletes that it holds back; the query has no body. */
export const RESUME_DELETES_TOPIC = "resume-deletes";

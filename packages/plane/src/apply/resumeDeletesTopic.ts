/** Topic of the question by which the server has an agent resume deletes that it holds back; the question has no body. */
export const RESUME_DELETES_TOPIC = "resume-deletes";

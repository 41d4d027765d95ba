import type { ClientRequest } from "node:http";

/**
 * Has a request fail whatever a server does in place of an answer. Without a listener for `upgrade`, Node closes the connection of a server that
 * switches to another protocol and says nothing else: no error, and no timeout or abort after it. An answer that has begun ends by itself.
 */
export function failUnanswered(sent: ClientRequest, fail: (error: Error) => void): void {
  let isAnswered = false;
  sent.on("response", () => {
    isAnswered = true;
  });
  sent.on("error", fail);
  sent.on("upgrade", (_, socket) => {
    socket.destroy();
    fail(new Error("the server switches to another protocol"));
  });
  sent.on("close", () => {
    if (!isAnswered) fail(new Error("the connection closed before an answer"));
  });
}

import { type DescMethod, type DescService, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import type { MethodDefinition } from "@grpc/grpc-js";
import {
  type RegisterRequest,
  type RegisterResponse,
  RegistrationService,
  type RenewRequest,
  type RenewResponse,
} from "../gen/relay/v1/registration_pb.ts";
import type { ConnectRequest, ConnectResponse } from "../gen/relay/v1/relay_pb.ts";
import { RelayService } from "../gen/relay/v1/relay_pb.ts";

/** The services of `proto/relay/v1` as the gRPC library wants them. */
export const connectMethod = methodOf<ConnectRequest, ConnectResponse>(RelayService, RelayService.method.connect);
export const registerMethod = methodOf<RegisterRequest, RegisterResponse>(RegistrationService, RegistrationService.method.register);
export const renewMethod = methodOf<RenewRequest, RenewResponse>(RegistrationService, RegistrationService.method.renew);

export const SERVICE_NAMES = [RelayService.typeName, RegistrationService.typeName];

function methodOf<In extends Message, Out extends Message>(service: DescService, method: DescMethod): MethodDefinition<In, Out> {
  const { input, output, methodKind } = method;
  // The descriptor's own types say that these messages are In and Out.
  return {
    path: `/${service.typeName}/${method.name}`,
    requestStream: methodKind === "bidi_streaming" || methodKind === "client_streaming",
    responseStream: methodKind === "bidi_streaming" || methodKind === "server_streaming",
    requestSerialize: (message) => Buffer.from(toBinary(input, message)),
    requestDeserialize: (bytes) => fromBinary(input, bytes) as Message as In,
    responseSerialize: (message) => Buffer.from(toBinary(output, message)),
    responseDeserialize: (bytes) => fromBinary(output, bytes) as Message as Out,
  };
}

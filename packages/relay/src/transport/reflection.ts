import { toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { Server } from "@grpc/grpc-js";
import { ReflectionService } from "@grpc/reflection";
import { file_relay_v1_registration } from "../gen/relay/v1/registration_pb.ts";
import { file_relay_v1_relay } from "../gen/relay/v1/relay_pb.ts";

/** Lets clients such as grpcurl ask what services there are. */
export function addReflection(server: Server): void {
  const fileDescriptorProtos = [file_relay_v1_relay, file_relay_v1_registration].map(({ proto }) =>
    Buffer.from(toBinary(FileDescriptorProtoSchema, proto)),
  );
  // It reads the files alone, and has them by way of any one definition.
  const definition = { format: "Protocol Buffer 3 DescriptorProto", type: {}, fileDescriptorProtos };
  new ReflectionService({ "relay.v1": definition } as Definitions).addToServer(server);
}

type Definitions = ConstructorParameters<typeof ReflectionService>[0];

"""A client in another language that knows nothing of the server but its address, its root and a token: what the services are
it learns by reflection. Prints what it found, as one JSON object."""

import argparse
import json
import pathlib
import subprocess
import tempfile

import grpc
from google.protobuf import message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

AUTHORITY = "gloo-mesh-mgmt-server.gloo-mesh"


def main():
    parser = argparse.ArgumentParser()
    for name in ("address", "root", "token", "cluster", "uid"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    root = pathlib.Path(args.root).read_bytes()

    def channel(certificate=None, key=None):
        credentials = grpc.ssl_channel_credentials(root, key, certificate)
        return grpc.secure_channel(args.address, credentials, options=[("grpc.ssl_target_name_override", AUTHORITY)])

    with channel() as anonymous:
        health = health_pb2_grpc.HealthStub(anonymous).Check(health_pb2.HealthCheckRequest(service="relay.v1.RelayService"), timeout=20)
        database = ProtoReflectionDescriptorDatabase(anonymous)
        services = sorted(database.get_services())
        pool = DescriptorPool(database)

        def message(name):
            return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"relay.v1.{name}"))

        request, key = certificate_request(args.cluster)

        def register(token):
            call = anonymous.unary_unary(
                "/relay.v1.RegistrationService/Register",
                request_serializer=message("RegisterRequest").SerializeToString,
                response_deserializer=message("RegisterResponse").FromString,
            )
            fields = {"certificate_request": request, "cluster_name": args.cluster, "cluster_uid": args.uid}
            return call(message("RegisterRequest")(token=token, **fields), timeout=20)

        def welcome(on):
            call = on.stream_stream(
                "/relay.v1.RelayService/Connect",
                request_serializer=message("ConnectRequest").SerializeToString,
                response_deserializer=message("ConnectResponse").FromString,
            )
            hello = message("ConnectRequest")(epoch=1)
            hello.hello.protocol_version = 1
            hello.hello.instance = "python"
            hello.hello.cluster_uid = args.uid
            return next(call(iter([hello]), timeout=20))

        refusals = {"Register": code_of(lambda: register("wrong")), "Connect": code_of(lambda: welcome(anonymous))}
        issued = register(args.token)
        with channel(issued.certificate_chain.encode(), key) as mutual:
            first = welcome(mutual)

    print(
        json.dumps(
            {
                "health": health_pb2.HealthCheckResponse.ServingStatus.Name(health.status),
                "services": services,
                "refusals": refusals,
                "first": first.WhichOneof("body"),
                "epoch": first.epoch,
                "protocolVersion": first.welcome.protocol_version,
                "heartbeatIntervalMs": first.welcome.heartbeat_interval_ms,
                "maxMessageBytes": first.welcome.limits.max_message_bytes,
            }
        )
    )


def code_of(call):
    try:
        call()
    except grpc.RpcError as error:
        return error.code().name
    return "OK"


def certificate_request(name):
    with tempfile.TemporaryDirectory() as directory:
        key = pathlib.Path(directory) / "key.pem"
        command = ["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        request = subprocess.run([*command, "-keyout", key, "-subj", f"/CN={name}"], check=True, capture_output=True, text=True)
        return request.stdout, key.read_bytes()


main()

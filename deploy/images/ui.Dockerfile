# The image of gloo-mesh-ui, the console: its production tree (tools/productionTree.mjs) and Node, and nothing else. Build it with deploy/images/build.sh, which pins
# both base images by digest.
#   BUILD_IMAGE    Node 24 with npm, on glibc
#   RUNTIME_IMAGE  glibc and libstdc++ of the same distribution, without shell or package manager ("distroless" cc)
ARG BUILD_IMAGE
ARG RUNTIME_IMAGE

FROM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY . .
# Scripts of packages stay out; `npm ci` checks each package against the lock file. Declarations of types and source maps of packages, two fifths of their bytes,
# are read by nobody there.
RUN npm ci --ignore-scripts \
 && node tools/productionTree.mjs ui /out \
 && cd /out \
 && npm ci --omit=dev --ignore-scripts \
 && find node_modules -type f \( -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.map' \) -delete \
 && npm sbom --omit=dev --sbom-format=spdx > sbom.spdx.json \
 && cp "$(command -v node)" /node

FROM ${RUNTIME_IMAGE}
COPY --from=build /node /usr/local/bin/node
COPY --from=build /out /app
ENV NODE_ENV=production
WORKDIR /app
USER 65532:65532
# Metrics and health. Browsers reach the console itself on loopback alone, so that its port is not one of the image.
EXPOSE 9091
ENTRYPOINT ["/usr/local/bin/node", "/app/bin/ui.js"]

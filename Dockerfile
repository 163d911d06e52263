# The image of newrelic-exporter. See docs/kubernetes.md.
#
# The base images are pinned by tag here. For production, pin them by digest too, such as
#   --build-arg RUNTIME_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot@sha256:<digest>
# with the digest that "docker buildx imagetools inspect IMAGE" prints.
ARG BUILD_IMAGE=docker.io/library/node:24-bookworm-slim
ARG RUNTIME_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot

# The bundle is the same for every architecture, so it is built once, on the architecture of the builder.
FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# An optional secret: the npm configuration of a private registry. It does not get into the image.
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc npm ci --ignore-scripts
COPY LICENSE ./
COPY scripts/bundle.mjs scripts/llhttp-licence.txt scripts/
COPY src src
# The date of the exporter's files, in seconds since 1970, so that two builds give the same layers.
ARG SOURCE_DATE_EPOCH=0
RUN node scripts/bundle.mjs /app \
  && cp LICENSE /app/ \
  && touch --date="@${SOURCE_DATE_EPOCH}" /app /app/*

FROM ${RUNTIME_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="newrelic-exporter" \
  org.opencontainers.image.description="Prometheus exporter for New Relic APM applications and their hosts" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production \
  NEWRELIC_EXPORTER_CONFIG_FILE=/etc/newrelic-exporter/config.yaml \
  NEWRELIC_EXPORTER_REVISION=${REVISION}
COPY --from=build --chown=0:0 /app /app
USER 65532:65532
WORKDIR /app
EXPOSE 9126
# For Docker and Compose; Kubernetes uses its own probes. The image has no shell and no curl.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
  CMD ["/nodejs/bin/node", "/app/newrelic-exporter.mjs", "healthcheck"]
ENTRYPOINT ["/nodejs/bin/node", "/app/newrelic-exporter.mjs"]
# The command of the base image would become an argument of the exporter.
CMD []

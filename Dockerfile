# One image for the API, the workers, the migration, reconcile and the import; the command says which.

ARG NODE=node:24-bookworm-slim

FROM ${NODE} AS build
WORKDIR /weir
COPY package.json package-lock.json .npmrc tsconfig.base.json ./
COPY packages packages
COPY apps apps
COPY services services
RUN npm ci --no-audit --no-fund
RUN npx tsc -b apps/api apps/worker apps/import apps/reconcile apps/admin && node services/build-console.mjs
# What is left in src is read from there when a process starts: what the page /embed is made of.
RUN find apps/api/src -name '*.ts' -delete

FROM ${NODE} AS dependencies
WORKDIR /weir
COPY package.json package-lock.json .npmrc ./
COPY packages/shared/package.json packages/shared/
COPY packages/rating/package.json packages/rating/
COPY packages/billing/package.json packages/billing/
COPY packages/db/package.json packages/db/
COPY packages/queue/package.json packages/queue/
COPY packages/sdk/package.json packages/sdk/
COPY apps/api/package.json apps/api/
COPY apps/worker/package.json apps/worker/
COPY apps/import/package.json apps/import/
COPY apps/reconcile/package.json apps/reconcile/
COPY apps/admin/package.json apps/admin/
COPY services/package.json services/
RUN npm ci --omit=dev --no-audit --no-fund \
  --workspace @weir/shared --workspace @weir/rating --workspace @weir/billing --workspace @weir/db --workspace @weir/queue --workspace @weir/sdk \
  --workspace @weir/api --workspace @weir/worker --workspace @weir/import --workspace @weir/reconcile \
  --workspace @weir/admin
# Of the fonts of PDFs what is read: two weights, in one format.
RUN find node_modules/@fontsource -path '*/files/*' -not -name '*-400-normal.woff' -not -name '*-600-normal.woff' -delete

FROM ${NODE}
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /weir
COPY --from=dependencies /weir ./
COPY --from=build /weir/packages/shared/dist packages/shared/dist
COPY --from=build /weir/packages/rating/dist packages/rating/dist
COPY --from=build /weir/packages/billing/dist packages/billing/dist
COPY --from=build /weir/packages/db/dist packages/db/dist
COPY --from=build /weir/packages/db/migrations packages/db/migrations
COPY --from=build /weir/packages/queue/dist packages/queue/dist
COPY --from=build /weir/packages/queue/scripts packages/queue/scripts
COPY --from=build /weir/packages/sdk/dist packages/sdk/dist
COPY --from=build /weir/apps/api/dist apps/api/dist
COPY --from=build /weir/apps/api/src apps/api/src
COPY --from=build /weir/apps/console/dist apps/console/dist
COPY --from=build /weir/apps/worker/dist apps/worker/dist
COPY --from=build /weir/apps/import/dist apps/import/dist
COPY --from=build /weir/apps/reconcile/dist apps/reconcile/dist
COPY --from=build /weir/apps/admin/dist apps/admin/dist
COPY docs/guides docs/guides
COPY deploy/reconcile-nightly.sh deploy/
# Of package.json, as a test holds.
LABEL org.opencontainers.image.title="Weir" org.opencontainers.image.version="1.0.0" org.opencontainers.image.licenses="Apache-2.0"
# The commit that this is built from, which /version and Health say: docker compose build --build-arg REVISION=$(git rev-parse HEAD)
ARG REVISION=
LABEL org.opencontainers.image.revision="$REVISION"
RUN test -z "$REVISION" || echo "$REVISION" > packages/shared/dist/revision
USER node
EXPOSE 3000 3001
# As services/src/node-options.ts has them, which says why.
ENTRYPOINT ["node", "--max-semi-space-size=64", "--single-threaded-gc"]
CMD ["apps/api/dist/main.js"]

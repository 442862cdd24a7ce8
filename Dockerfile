# One image for the API, the workers, the migration and reconcile; the command says which.

FROM node:24-bookworm-slim AS build
WORKDIR /weir
COPY package.json package-lock.json .npmrc tsconfig.base.json ./
COPY packages packages
COPY apps apps
COPY services services
RUN npm ci --no-audit --no-fund
RUN npx tsc -b apps/api apps/worker apps/reconcile

FROM node:24-bookworm-slim AS dependencies
WORKDIR /weir
COPY package.json package-lock.json .npmrc ./
COPY packages/shared/package.json packages/shared/
COPY packages/db/package.json packages/db/
COPY packages/sdk/package.json packages/sdk/
COPY apps/api/package.json apps/api/
COPY apps/worker/package.json apps/worker/
COPY apps/import/package.json apps/import/
COPY apps/reconcile/package.json apps/reconcile/
COPY services/package.json services/
RUN npm ci --omit=dev --no-audit --no-fund \
  --workspace @weir/shared --workspace @weir/db --workspace @weir/api --workspace @weir/worker \
  --workspace @weir/reconcile

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /weir
COPY --from=dependencies /weir ./
COPY --from=build /weir/packages/shared/dist packages/shared/dist
COPY --from=build /weir/packages/db/dist packages/db/dist
COPY packages/db/migrations packages/db/migrations
COPY --from=build /weir/apps/api/dist apps/api/dist
# The admission script is read from beside its source.
COPY apps/api/src/ingest/admit.lua apps/api/src/ingest/admit.lua
# So is what the page /embed is made of.
COPY apps/api/src/widget/embed.html apps/api/src/widget/embed.css apps/api/src/widget/embed.js apps/api/src/widget/
COPY --from=build /weir/apps/worker/dist apps/worker/dist
COPY --from=build /weir/apps/reconcile/dist apps/reconcile/dist
USER node
EXPOSE 3000 3001
CMD ["node", "--max-semi-space-size=64", "--heap-growing-percent=300", "--single-threaded-gc", "apps/api/dist/main.js"]

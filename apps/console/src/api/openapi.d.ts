export interface paths {
    "/healthz": {
        /** The process is alive */
        get: operations["getHealth"];
    };
    "/readyz": {
        /**
         * The door is open: tracking is taken
         * @description While either of Redis and Postgres is away tracking goes on, so this stays 200, and the body says what is away, and which way events take: through Redis, or directly to Postgres. It is 503 while events cannot be taken, with the reason, and once the process was told to stop.
         */
        get: operations["getReadiness"];
    };
    "/version": {
        /** Which version of Weir answers */
        get: operations["getVersion"];
    };
    "/api/v1/system": {
        /**
         * How this installation is, as far as it concerns your organization
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getSystem"];
    };
    "/api/v1/auth/options": {
        /** What is open to somebody who is not signed in */
        get: operations["getSignInOptions"];
    };
    "/api/v1/auth/signup": {
        /**
         * Create an organization and its first admin, and sign in
         * @description Open only until there is an organization, unless the setting SIGNUP says otherwise.
         */
        post: operations["signUp"];
    };
    "/api/v1/auth/login": {
        /**
         * Sign in
         * @description Sets the cookie access_token. A session ends after 12 hours without a request, and after 7 days.
         */
        post: operations["signIn"];
    };
    "/api/v1/auth/logout": {
        /**
         * Sign out
         * @description The session ends at once. Without a session there is nothing to end, and the answer is the same.
         */
        post: operations["signOut"];
    };
    "/api/v1/auth/me": {
        /**
         * Who is signed in
         * @description Who may: whoever is signed in.
         */
        get: operations["getAccount"];
    };
    "/api/v1/auth/sessions": {
        /**
         * List one’s sessions, the last used first
         * @description Those that have ended are not listed.
         *
         *     Who may: whoever is signed in.
         */
        get: operations["listSessions"];
        /**
         * End all of one’s sessions but this one
         * @description Who may: whoever is signed in.
         */
        delete: operations["deleteOtherSessions"];
    };
    "/api/v1/auth/sessions/{id}": {
        /**
         * End one of one’s sessions
         * @description Who may: whoever is signed in.
         */
        delete: operations["deleteSession"];
    };
    "/api/v1/auth/password": {
        /**
         * Change one’s password
         * @description All other sessions of the account end, and links for a new password too.
         *
         *     Who may: whoever is signed in.
         */
        post: operations["changePassword"];
    };
    "/api/v1/users/{id}/password-reset": {
        /**
         * Make a link with which a user sets a new password
         * @description Give the link to that person. It works once, for 24 hours, and as long as you are an admin.
         *
         *     Who may: an admin who is signed in.
         */
        post: operations["createPasswordReset"];
    };
    "/api/v1/auth/password-reset": {
        /**
         * Set a new password by a link, and sign in
         * @description Uses the link up. All sessions that the account had end, and all other links.
         */
        post: operations["resetPassword"];
    };
    "/api/v1/auth/password-reset/request": {
        /**
         * Have a link for a new password mailed
         * @description The answer is the same whether there is such an account or not. Open only where mail is set up; else ask an admin of your organization for a link.
         */
        post: operations["requestPasswordReset"];
    };
    "/api/v1/invitations": {
        /**
         * List the invitations that can still be accepted, newest first
         * @description Never their links: only hashes of them are kept.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listInvitations"];
        /**
         * Invite a person into the organization
         * @description Give the link to that person, who chooses a password with it. It works once, for 7 days, and as long as you are an admin. Inviting the same address again makes another link, and ends the one before.
         *
         *     Who may: an admin who is signed in.
         */
        post: operations["createInvitation"];
    };
    "/api/v1/invitations/{id}": {
        /**
         * Take an invitation back
         * @description Its link opens nothing from then on.
         *
         *     Who may: an admin who is signed in.
         */
        delete: operations["deleteInvitation"];
    };
    "/api/v1/auth/invitation": {
        /**
         * Look at an invitation before it is accepted
         * @description Nothing is used up by that.
         */
        post: operations["getInvitation"];
    };
    "/api/v1/auth/invitation/accept": {
        /**
         * Accept an invitation, and sign in
         * @description Makes the account with this password, and uses the invitation up.
         */
        post: operations["acceptInvitation"];
    };
    "/api/v1/organization": {
        /**
         * Read the organization
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getOrganization"];
        /**
         * Rename the organization
         * @description Who may: an admin who is signed in, or a service account with the role admin.
         */
        patch: operations["updateOrganization"];
    };
    "/api/v1/users": {
        /**
         * List the people of the organization, oldest first
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listUsers"];
    };
    "/api/v1/users/{id}": {
        /**
         * Read a user
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getUser"];
        /**
         * Delete a user
         * @description All sessions of that person end at once. The last admin stays.
         *
         *     Who may: an admin who is signed in.
         */
        delete: operations["deleteUser"];
        /**
         * Give a user another role
         * @description It holds from the user’s next request on. The last admin stays admin.
         *
         *     Who may: an admin who is signed in.
         */
        patch: operations["updateUser"];
    };
    "/api/v1/audit-log": {
        /**
         * Who changed what, newest first
         * @description Every change by a person, by a service account, with an API key or by whoever runs this Weir, but for tracking. Follow meta.next_cursor until it is null: a page ends early where all that was sent with its changes comes to 2097152 bytes, and a larger one is a page by itself. An entry has the time at which its change began, and is listed once that is done, or after a minute: whoever follows the log by time begins each look 70 s before the end of the last one, and drops by its id what is there already. Entries are kept for kept_days, which is the setting AUDIT_LOG_DAYS.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listAuditEntries"];
    };
    "/api/v1/api-keys": {
        /**
         * List the API keys, newest first
         * @description Never the keys themselves. A deleted key is not in the list.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listApiKeys"];
        /**
         * Create an API key
         * @description Keep the key: only its hash is stored, so nobody can show it again. A lost one is deleted and replaced.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        post: operations["createApiKey"];
    };
    "/api/v1/api-keys/{id}": {
        /**
         * Delete an API key
         * @description It is revoked at once: no request that starts after the answer is accepted, on any replica.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        delete: operations["deleteApiKey"];
    };
    "/api/v1/service-accounts": {
        /**
         * List the service accounts, newest first
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listServiceAccounts"];
        /**
         * Create a service account
         * @description It opens nothing before it has a token.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        post: operations["createServiceAccount"];
    };
    "/api/v1/service-accounts/{id}": {
        /**
         * Read a service account
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getServiceAccount"];
        /**
         * Delete a service account with its tokens
         * @description No request with one of them that starts after the answer is accepted. The audit log keeps its name.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        delete: operations["deleteServiceAccount"];
        /**
         * Rename a service account, or give it another role
         * @description A role holds from the next request on. Entries of the audit log keep the name that it had.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        patch: operations["updateServiceAccount"];
    };
    "/api/v1/service-accounts/{id}/tokens": {
        /**
         * List the tokens of a service account, newest first
         * @description Never the tokens themselves. One that has ended is in the list until it is deleted.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listServiceTokens"];
        /**
         * Make a token of a service account
         * @description Send it as Authorization: Bearer. Only its hash is stored, so nobody can show it again. To replace one without a gap, make the new one, put it in place, and delete the old one.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        post: operations["createServiceToken"];
    };
    "/api/v1/service-accounts/{id}/tokens/{token_id}": {
        /**
         * Delete a token of a service account
         * @description No request with it that starts after the answer is accepted, on any replica.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        delete: operations["deleteServiceToken"];
    };
    "/api/v1/features": {
        /**
         * List all features, oldest first
         * @description All of them, unless cursor, limit, page or page_size is sent: then a page, and meta.
         *
         *     Who may: whoever is signed in, or a service account of any role, or an API key with the scope usage.read.
         */
        get: operations["listFeatures"];
        /**
         * Create a feature, and for type meter its meter
         * @description Services track usage with the meter_token in the answer, or with the lookup_key. The meter takes the name of the feature. Events with a lookup_key that another feature had until just now are counted there for up to 5 seconds more.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        post: operations["createFeature"];
    };
    "/api/v1/features/{id}": {
        /**
         * Read a feature
         * @description Who may: whoever is signed in, or a service account of any role, or an API key with the scope usage.read.
         */
        get: operations["getFeature"];
        /**
         * Delete a feature that no plan uses or prices
         * @description Its meter is archived: it takes no more events, and what it has counted stays readable. A meter with a price in a plan, or in the open period of a subscription, is not. Events that still come with the lookup_key are counted there for 5 seconds more: give it to another feature after that.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        delete: operations["deleteFeature"];
        /**
         * Change a feature
         * @description Changes the fields that are sent. unit is for type meter only. The name of the meter stays: change it there. Events that still come with an old lookup_key are counted here for 5 seconds more: give it to another feature after that.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        patch: operations["updateFeature"];
    };
    "/api/v1/meters": {
        /**
         * List the meters, newest first
         * @description Who may: whoever is signed in, or a service account of any role, or an API key with the scope usage.read.
         */
        get: operations["listMeters"];
    };
    "/api/v1/meters/{id}": {
        /**
         * Read a meter
         * @description Who may: whoever is signed in, or a service account of any role, or an API key with the scope usage.read.
         */
        get: operations["getMeter"];
        /**
         * Change, archive or reopen a meter
         * @description Changes the fields that are sent. The aggregation stays: it is what recorded usage means. An archived meter refuses new events within some seconds, and what it has counted stays readable, and is billed where it has a price. metadata_keys are replaced by those that are sent; what was counted before is grouped by them within moments, or minutes where it is millions of events, and until then reading by them is 409 groups_not_ready.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        patch: operations["updateMeter"];
    };
    "/api/v1/plans": {
        /**
         * List the plans, newest first
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listPlans"];
        /**
         * Create a plan, with what it costs and includes
         * @description All of it, or nothing. Charges and features may come later as well: see createCharge and addPlanFeature, or updatePlan for many at once. The answer is the plan itself; getPlan has its charges and features.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        post: operations["createPlan"];
    };
    "/api/v1/plans/{id}": {
        /**
         * Read a plan, what it includes and what it costs
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getPlan"];
        /**
         * Delete a plan
         * @description Its features stay, and count one plan less. A plan that has or had subscriptions is not deleted: to sell it no more, set is_active to false.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        delete: operations["deletePlan"];
        /**
         * Change a plan, its charges and its features in one step
         * @description Changes the fields that are sent. Once the plan has a charge or a subscription, type, billing_interval and currency are fixed: what was agreed rests on them. Charges and features that are not named stay as they are. All of it is done, or nothing.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        patch: operations["updatePlan"];
    };
    "/api/v1/plans/{id}/features": {
        /**
         * Put a feature into a plan
         * @description One that is in the plan already is changed with PATCH. A plan has at most 500 features.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        post: operations["addPlanFeature"];
    };
    "/api/v1/plans/{id}/features/{feature_id}": {
        /**
         * Take a feature out of a plan
         * @description Who may: an admin who is signed in, or a service account with the role admin.
         */
        delete: operations["removePlanFeature"];
        /**
         * Change what a plan says about a feature
         * @description Changes the fields that are sent. It is so at once for everybody who has the plan: entitlements are read from it.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        patch: operations["updatePlanFeature"];
    };
    "/api/v1/customers": {
        /**
         * List the customers, newest first
         * @description Who may: whoever is signed in, or a service account of any role, or an API key with the scope usage.read.
         */
        get: operations["listCustomers"];
        /**
         * Create a customer
         * @description Without an external_id, the id is the external_id too. Usage that was tracked before belongs to it at once. One that another customer was billed under is not given again.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["createCustomer"];
    };
    "/api/v1/customers/{id}": {
        /**
         * Read a customer
         * @description Who may: whoever is signed in, or a service account of any role, or an API key with the scope usage.read.
         */
        get: operations["getCustomer"];
        /**
         * Delete a customer
         * @description The record only. Usage stays, under the external_id. A customer with a subscription, an invoice or a credit is not deleted.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        delete: operations["deleteCustomer"];
        /**
         * Change a customer
         * @description Changes the fields that are sent; null clears one. After a change of external_id the customer has the usage that is tracked with the new one, and no longer that of the old one, which nothing deletes; widget tokens of both end. While the customer has a subscription that is not canceled its external_id cannot change, and one that another customer was billed under is not given again.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        patch: operations["updateCustomer"];
    };
    "/api/v1/plans/{id}/charges": {
        /**
         * The charges of a plan, newest first, those that have ended too
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listCharges"];
        /**
         * Add a charge to a plan
         * @description Each subscription of the plan is billed by it from its next period on. With replaces it takes the place of another charge in one step. Prices and quantities are taken exactly as sent, as a number or as a text. A plan has at most 100 charges without an end, and 2000 tiers in all of them; beside them as many that are to end when others take their place.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        post: operations["createCharge"];
    };
    "/api/v1/plans/{id}/charges/{charge_id}": {
        /**
         * Rename or end a charge
         * @description Nothing else of a charge can be changed: to change a price, add a charge that replaces it. Periods that are open are billed by it to their end, under the name that it had when they began.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        patch: operations["updateCharge"];
    };
    "/api/v1/charges/evaluate": {
        /**
         * Try a charge out on a quantity
         * @description Computes what a charge comes to, by the same function that bills. Nothing is kept.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        post: operations["evaluateCharge"];
    };
    "/api/v1/billing/settings": {
        /**
         * Read how the organization bills
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getBillingSettings"];
        /**
         * Change how the organization bills
         * @description Changes the fields that are sent, for subscriptions, drafts and invoices that are made from then on.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        patch: operations["updateBillingSettings"];
    };
    "/api/v1/subscriptions/preview": {
        /**
         * See what a subscription would begin with
         * @description The body is that of POST /subscriptions, and nothing is kept. Whether another subscription bills a meter of the plan is not looked at.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        post: operations["previewSubscription"];
    };
    "/api/v1/subscriptions": {
        /**
         * List the subscriptions, newest first
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listSubscriptions"];
        /**
         * Subscribe a customer to a plan
         * @description From start_date on it is billed as if it had been there: each past period gets an invoice of its own. A meter of a customer is billed by one subscription at a time.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["createSubscription"];
    };
    "/api/v1/subscriptions/{id}": {
        /**
         * Read a subscription and what its customer may use by it
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getSubscription"];
        /**
         * Take back a cancellation or a change of plan that has not taken place yet
         * @description Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        patch: operations["updateSubscription"];
    };
    "/api/v1/subscriptions/{id}/periods": {
        /**
         * List the periods of a subscription, oldest first: all past ones, the current, and the next
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listSubscriptionPeriods"];
    };
    "/api/v1/subscriptions/{id}/cancel": {
        /**
         * Cancel a subscription at the end of its period, or now
         * @description Now: usage counts up to this instant, fixed prices by the dates up to this one, and what was billed in advance for later ones comes back with the final invoice. Before its start it always ends now, and there is no invoice.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["cancelSubscription"];
    };
    "/api/v1/customers/{id}/credits": {
        /**
         * What a customer has in advance, and the grants that it comes from, newest first
         * @description Of grants the newest 500: all of them are in GET /credits with customer_id.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listCustomerCredits"];
        /**
         * Grant a customer money in advance
         * @description Invoices draw it when they are finalized: smaller priority first, then what expires earlier, then what is older. A customer has at most 1000 grants in one currency that have something left and have not expired.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["createCredit"];
    };
    "/api/v1/credits/{id}/void": {
        /**
         * End what is left of a grant
         * @description What invoices drew of it stays drawn. A grant that is void already, or has expired, is answered as it is.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["voidCredit"];
    };
    "/api/v1/credits": {
        /**
         * The grants of all customers, newest first
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listCredits"];
    };
    "/api/v1/credits/balance": {
        /**
         * What all customers together have in advance, or one of them, now or at an instant
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getCreditBalance"];
    };
    "/api/v1/credits/{id}/entries": {
        /**
         * What became of a grant: which invoice drew how much, and what came back, oldest first
         * @description What expires has no entry: the time says it.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listCreditEntries"];
    };
    "/api/v1/invoices/{id}/credits": {
        /**
         * Which grants paid how much of an invoice, and of one below zero which invoices it paid, oldest first
         * @description Draws less returns whose invoice_id is this one are its credits_applied; those of a void one came back. Where given_by_invoice_id is this one, its total below zero paid others.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listInvoiceCredits"];
    };
    "/api/v1/entitlements": {
        /**
         * What a customer may use, by your own identifier of the customer
         * @description A customer without a record has no subscription. Read from what is recorded, without a cache. It holds nothing: two who ask at once may both be told that the last unit is left.
         *
         *     Who may: whoever is signed in, or a service account of any role, or an API key with the scope usage.read.
         */
        get: operations["listEntitlements"];
    };
    "/api/v1/customers/{id}/entitlements": {
        /**
         * What a customer may use
         * @description Read from what is recorded, without a cache. It holds nothing: two who ask at once may both be told that the last unit is left.
         *
         *     Who may: whoever is signed in, or a service account of any role, or an API key with the scope usage.read.
         */
        get: operations["listCustomerEntitlements"];
    };
    "/api/v1/billing-events": {
        /**
         * What happened, in the order in which it happened
         * @description Follow meta.next_cursor until it is null. Then ask again with after, the last meta.next_after: what comes later has a higher sequence, and nothing is missed or comes twice.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listBillingEvents"];
    };
    "/api/v1/webhook-endpoints": {
        /**
         * List the webhook endpoints, oldest first
         * @description Without their secrets.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listWebhookEndpoints"];
        /**
         * Have events sent to a URL
         * @description Each event of the feed that happens from now on is sent at least once, signed as Standard Webhooks has it. An organization has at most 10 endpoints.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["createWebhookEndpoint"];
    };
    "/api/v1/webhook-endpoints/{id}": {
        /**
         * Get a webhook endpoint
         * @description Without its secret.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getWebhookEndpoint"];
        /**
         * Delete a webhook endpoint
         * @description With its deliveries. What is under way to it may still arrive.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        delete: operations["deleteWebhookEndpoint"];
        /**
         * Change a webhook endpoint, or turn it off or on
         * @description Turned on, it goes on where it was: what happened meanwhile is sent to it. With other event_types, what waits to be sent and is of none of them is given up: its delivery is FAILED, and is sent all the same where it is retried. What other types they add is sent as it happens, and from before by a replay.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        patch: operations["updateWebhookEndpoint"];
    };
    "/api/v1/webhook-endpoints/{id}/rotate": {
        /**
         * Give a webhook endpoint another secret
         * @description For 24 hours both sign, so that the receiver can be changed meanwhile. Rotated again, only the last two.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["rotateWebhookSecret"];
    };
    "/api/v1/webhook-endpoints/{id}/replay": {
        /**
         * Send events of before again
         * @description Those of a part of the feed, of the types that the endpoint takes, also from before it was made. They have the webhook-id that they had before. replay in the answer is null where there is none. While the endpoint is turned off they wait.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["replayWebhooks"];
    };
    "/api/v1/webhook-endpoints/{id}/deliveries": {
        /**
         * What was sent to an endpoint, newest first, with every attempt
         * @description What is done with is kept for 30 days, and the last 20000 of an endpoint; what is still to be sent, until it is.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listWebhookDeliveries"];
    };
    "/api/v1/webhook-endpoints/{id}/test": {
        /**
         * Send a test to an endpoint
         * @description Of the type webhook.test, signed like all others, within a second or so and once. Its delivery says what came back. While 10 of an endpoint wait, one more is answered 429.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["testWebhookEndpoint"];
    };
    "/api/v1/deliveries/{id}/retry": {
        /**
         * Send one event to its endpoint again
         * @description Now, and by the schedule while that fails, whatever came of it before. While the endpoint is turned off it waits.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["retryWebhookDelivery"];
    };
    "/api/v1/alerts": {
        /**
         * List the alerts, newest first
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listAlerts"];
        /**
         * Be told when usage, or what it comes to, reaches a threshold
         * @description Each threshold is crossed once for each customer (for an amount: each subscription) and period, and told as usage.threshold_reached by the feed and webhooks, within seconds of the 201 of the event. What is there already counts: a threshold that is passed when the alert is made is crossed in this period, and in none that is over. Usage that is taken back and comes again crosses nothing twice. An organization has at most 100 alerts.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["createAlert"];
    };
    "/api/v1/alerts/{id}": {
        /**
         * Get an alert
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getAlert"];
        /**
         * Delete an alert
         * @description With what it crossed. What the feed has told stays there.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        delete: operations["deleteAlert"];
        /**
         * Change the name or the thresholds of an alert, or turn it off or on
         * @description thresholds take the place of those that it has. What was crossed in a period stays crossed in it; one that is new and passed already is crossed now, and so is what was passed while the alert was off. What it watches stays: make another one for something else.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        patch: operations["updateAlert"];
    };
    "/api/v1/alerts/{id}/crossings": {
        /**
         * Which thresholds of an alert were crossed, newest first
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listAlertCrossings"];
    };
    "/api/v1/billing/unbilled-usage": {
        /**
         * Usage of priced meters in a month that no charge bills, most events first
         * @description Of days that are over, in UTC, each looked at within some hours of its end and again while events may be late. Usage in a trial, or before the start of a subscription, is not among it. The feed tells each meter, month and reason once (usage.unpriced), but for not_in_plan.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listUnbilledUsage"];
    };
    "/api/v1/sdk/track": {
        /**
         * Track one usage event
         * @description A 201 means: on disk, and counted exactly once. Time out after 5 seconds and retry with the same idempotency_key (in the body or as the header Idempotency-Key); a 409 duplicate_event then means that it is accepted already. While Redis cannot take events, Postgres does, with the same answers: 503 is for when neither can, or somebody else changes usage of your organization just then.
         *
         *     Who may: an API key with the scope usage.write.
         */
        post: operations["trackUsage"];
    };
    "/api/v1/sdk/track/batch": {
        /**
         * Track up to 1000 usage events
         * @description Every event is judged by itself. 201 when all were accepted, else 207; data is in the order sent. One that is no JSON or too large has the whole batch refused with 400 or 413. Where it can be told which, errors names it, such as events[3]: send the others without it.
         *
         *     Who may: an API key with the scope usage.write.
         */
        post: operations["trackUsageBatch"];
    };
    "/api/v1/invoices": {
        /**
         * List the invoices, newest first, without their lines
         * @description Drafts are computed as of computed_at, all of a page at the same moment. One that cannot be computed says why (not_computed), and the others are there.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listInvoices"];
    };
    "/api/v1/subscriptions/{id}/invoices": {
        /**
         * List the invoices of a subscription, newest first, without their lines
         * @description Drafts are computed as of computed_at, all of a page at the same moment. One that cannot be computed says why (not_computed), and the others are there.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listSubscriptionInvoices"];
    };
    "/api/v1/invoices/{id}": {
        /**
         * Read an invoice with its lines
         * @description A draft is computed now, in one snapshot of what is recorded. Of more lines than fit into an answer the first ones, with lines_total and lines_next_cursor.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getInvoice"];
    };
    "/api/v1/invoices/{id}/lines": {
        /**
         * The lines of an invoice, page by page
         * @description Follow meta.next_cursor until it is null. A page ends early with the line at which its charges and details come to 4000 tiers. The lines of a draft are computed for each page, and may change between two.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listLinesOfInvoice"];
        /**
         * Add an ADJUSTMENT line to a draft
         * @description A draft takes 10000 of them.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["addInvoiceLine"];
    };
    "/api/v1/invoices/{id}/recompute": {
        /**
         * Compute a finalized invoice again, and compare
         * @description Each line with its own copy of the charge, its closing, its rating version and its days, from rollups or from single events. Changes nothing. identical is true for every finalized invoice, for ever, with the months of its events in the database: where single events are needed and their month was taken out, 409 month_taken_out names it. It is said of all lines, of which an answer holds as many as that of GET /invoices/{id}, those that differ before others.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        post: operations["recomputeInvoice"];
    };
    "/api/v1/invoices/{id}/pdf": {
        /**
         * An invoice as PDF
         * @description As it was issued: the same bytes each time, for as long as the copy of the name and address of the customer is kept. as=now draws it as it is now. Of more than 2000 lines the others are one row, with what they come to. A line of which nothing was used, billed or waived is left out, unless there are no others. A draft says so on every page, is of the moment, and lists the lines that GET /invoices/{id} has.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getInvoicePdf"];
    };
    "/api/v1/invoices/{id}/finalize": {
        /**
         * Finalize a draft now, before its grace is over
         * @description The drafts of a subscription are finalized in the order of their periods.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["finalizeInvoice"];
    };
    "/api/v1/invoices/{id}/void": {
        /**
         * Waive an invoice
         * @description What it took of credits goes back to them. What it billed is waived, and is not billed again by another invoice unless `rebill` is true. If its usage was wrong, void the events and void with `rebill`: voided without it, the correction takes the amount off once more. One that is paid in part is refused: what was paid would be for nothing. What other invoices gave back of what it billed ends with it; where not all of that is left, or others billed something of the same charges and periods, it is refused without `rebill`.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["voidInvoice"];
    };
    "/api/v1/invoices/{id}/uncollectible": {
        /**
         * Give an open invoice up
         * @description It can still be paid, or waived.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["markInvoiceUncollectible"];
    };
    "/api/v1/invoices/{id}/pay": {
        /**
         * Record a payment of an invoice: of all of its amount_due, or of a part
         * @description It is PAID once nothing is due. Safe to repeat with a reference: where a payment of the invoice has it, the answer is 409 with the reference, and nothing is added. Whoever pays what is paid gets 409 with the reference of the last payment.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["payInvoice"];
    };
    "/api/v1/invoices/{id}/payments/{payment_id}": {
        /**
         * Take a payment back that was recorded by mistake
         * @description It stays in the payments of the invoice, with the note, and counts no more. An invoice that was PAID by it is OPEN again, or UNCOLLECTIBLE where it had been given up. Weir takes no money, and gives none back.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        delete: operations["deletePayment"];
    };
    "/api/v1/invoices/finalize": {
        /**
         * Finalize drafts now, up to 100 of them
         * @description Each as by itself, in the order of their periods, and each is answered for, in the order sent. What is finalized already stays as it is, and so does what cannot be computed. With an id that there is not, nothing is done.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["finalizeInvoices"];
    };
    "/api/v1/invoices/{id}/lines/{line_id}": {
        /**
         * Read one line of an invoice
         * @description Also one that is beyond those that come with the invoice. Of a draft it is computed now.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getInvoiceLine"];
        /**
         * Take an ADJUSTMENT line off a draft
         * @description The other lines of a draft are computed, and cannot be taken off.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        delete: operations["deleteInvoiceLine"];
    };
    "/api/v1/invoices/{id}/lines/{line_id}/usage": {
        /**
         * The buckets behind the quantity of a line, in the time zone of the subscription
         * @description As they were at the closing of the line; of a draft as they are now. For COUNT and SUM they add up to quantity. A line without usage has no buckets.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getInvoiceLineUsage"];
    };
    "/api/v1/invoices/{id}/lines/{line_id}/events": {
        /**
         * The events that a line counts, in the order of their time
         * @description Follow meta.next_cursor until it is null. With changes=true only what came in or was voided since the line before for the same charge and period, each with its change; where there is none, that is all of them. An event that was voided after the line is among them, with the status that it has now. A line without usage has none.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listInvoiceLineEvents"];
    };
    "/api/v1/invoice-lines": {
        /**
         * The lines of all finalized invoices, in the order of issue dates, as JSON or CSV
         * @description Follow meta.next_cursor until it is null, or the header Link with rel="next" until there is none. A page may hold fewer lines than limit, or none, and not be the last: so many invoices are looked at for each. CSV comes for format=csv or Accept: text/csv, with a head on the first page, so that pages one after the other are one file; what a spreadsheet would take for a formula, also behind a semicolon or a line break of a text, or for a date, as the days 11/30 and the exact amount 10/3, has an apostrophe before it there. A line's copy of its charge and its tiers are on its invoice.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listInvoiceLines"];
    };
    "/api/v1/subscriptions/{id}/usage": {
        /**
         * The quantity and the amount of each charge for usage, in the open period as of now
         * @description In a trial usage is counted and costs nothing: the charges are those of the first period after it.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getSubscriptionUsage"];
    };
    "/api/v1/subscriptions/{id}/preview-invoice": {
        /**
         * The next invoice of a subscription, as of now
         * @description Makes nothing: it has no id and no number, and neither have its lines.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["previewInvoice"];
    };
    "/api/v1/subscriptions/{id}/settle": {
        /**
         * Bill what came late for a subscription that has ended, at once
         * @description Makes an ADJUSTMENT invoice and finalizes it. Late changes that come to nothing wait, and invoice is null.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["settleSubscription"];
    };
    "/api/v1/subscriptions/{id}/change": {
        /**
         * Change to another plan at the end of the period, or now
         * @description It takes the place of a change that was asked for before. The meters of the other plan are taken at once. Another interval begins with a new anchor, at the end of the period only. Before its start the subscription changes at once, whatever the interval, and in a trial it may.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["changeSubscriptionPlan"];
    };
    "/api/v1/subscriptions/{id}/preview-change": {
        /**
         * The invoice that a change to another plan would make now
         * @description Changes nothing. The invoice has no id and no number; it is null where the change would make none, as in a trial. What would be refused is refused here, too.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["previewPlanChange"];
    };
    "/api/v1/events/{id}": {
        /**
         * The receipt of an event: what became of it
         * @description Who may: whoever is signed in, or a service account of any role, or an API key with the scope usage.read.
         */
        get: operations["getEvent"];
    };
    "/api/v1/events": {
        /**
         * Events that have left the queue, newest first
         * @description Follow meta.next_cursor until it is null. An event that still waits in the queue is not listed yet.
         *
         *     Who may: whoever is signed in, or a service account of any role, or an API key with the scope usage.read.
         */
        get: operations["listEvents"];
    };
    "/api/v1/events/rejections": {
        /**
         * Why events are rejected that were not replayed yet, most frequent first
         * @description At most 100. The events of each: GET /events with the same reason and meter_id. Where a reason names another event, its id is left out here.
         *
         *     Who may: whoever is signed in, or a service account of any role, or an API key with the scope usage.read.
         */
        get: operations["listEventRejections"];
    };
    "/api/v1/events/{id}/replay": {
        /**
         * Send a rejected event again, with corrected metadata or another idempotency key if given
         * @description The event keeps its id and its timestamp. However often it is replayed, it is counted at most once. Its receipt says rejected until a worker has taken it. An event that is rejected since another one holds its idempotency_key is rejected again unless it gets another key, or none (null).
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        post: operations["replayEvent"];
    };
    "/api/v1/events/{id}/void": {
        /**
         * Take a recorded event out of the count, for good
         * @description Usage is exact with the answer: in every window, group and draft. An invoice that is finalized stays as it is; the next one of the subscription has a LATE_USAGE line for the difference. The event keeps its id and its idempotency_key, so that sending it again brings nothing back. One that is still queued is 409 not_correctable: ask again when its receipt says recorded. So is one of an hour of which other events are in a month that was taken out of the database, until that month is attached again.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["voidEvent"];
    };
    "/api/v1/events/{id}/amend": {
        /**
         * Have another event count in place of a recorded one: with another quantity, timestamp or metadata
         * @description The recorded one is void, and a new one, which has no idempotency_key, is recorded at once. Usage is exact with the answer: in every window, group and draft. An invoice that is finalized stays as it is; the next one of the subscription has a LATE_USAGE line for the difference. The event keeps its id and its idempotency_key, so that sending it again brings nothing back. One that is still queued is 409 not_correctable: ask again when its receipt says recorded. So is one of an hour of which other events are in a month that was taken out of the database, until that month is attached again. Their receipts name each other.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["amendEvent"];
    };
    "/api/v1/corrections": {
        /**
         * List the corrections, newest first
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listCorrections"];
        /**
         * Void and amend many events: all of them, or none
         * @description Each is of another event. Usage is exact with the answer: in every window, group and draft. An invoice that is finalized stays as it is; the next one of the subscription has a LATE_USAGE line for the difference. The event keeps its id and its idempotency_key, so that sending it again brings nothing back. One that is still queued is 409 not_correctable: ask again when its receipt says recorded. So is one of an hour of which other events are in a month that was taken out of the database, until that month is attached again.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["createCorrections"];
    };
    "/api/v1/corrections/preview": {
        /**
         * What corrections would do: to usage, and to invoices
         * @description Takes the body of POST /corrections and changes nothing. Usage is that of a customer on a meter in a calendar month, in the time zone of the organization, before and after, both as of one instant. What would be refused is refused here, too.
         *
         *     Who may: an admin who is signed in, or a service account with the role biller or admin.
         */
        post: operations["previewCorrections"];
    };
    "/api/v1/overview": {
        /**
         * How the organization stands in this month so far
         * @description Made of sums, whatever the number of events. It counts as much as a chart of a thousand periods.
         *
         *     Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getOverview"];
    };
    "/api/v1/meters/{id}/usage": {
        /**
         * The usage of a meter over a window, in all and by calendar period
         * @description Periods without events are filled in; at most 10000 periods. What is read is exact to the microsecond, and a recorded event is in the next read, however late it came in.
         *
         *     Who may: whoever is signed in, or a service account of any role, or an API key with the scope usage.read.
         */
        get: operations["getMeterUsage"];
    };
    "/api/v1/usage": {
        /**
         * The same as the usage of a meter, by its meter_token
         * @description Periods without events are filled in; at most 10000 periods. What is read is exact to the microsecond, and a recorded event is in the next read, however late it came in.
         *
         *     Who may: whoever is signed in, or a service account of any role, or an API key with the scope usage.read.
         */
        get: operations["getUsage"];
    };
    "/api/v1/meters/{id}/customers": {
        /**
         * The customers of a meter by their usage over a window, largest first
         * @description Every customer with events in the window, also those without a record. What is read is exact to the microsecond, and a recorded event is in the next read, however late it came in.
         *
         *     Who may: whoever is signed in, or a service account of any role, or an API key with the scope usage.read.
         */
        get: operations["listMeterCustomers"];
    };
    "/api/v1/customers/{id}/usage": {
        /**
         * The usage of a customer over a window, on every meter of the organization
         * @description Meters on which the customer has no usage are in, archived ones too. What is read is exact to the microsecond, and a recorded event is in the next read, however late it came in.
         *
         *     Who may: whoever is signed in, or a service account of any role, or an API key with the scope usage.read.
         */
        get: operations["getCustomerUsage"];
    };
    "/api/v1/erasures": {
        /**
         * List the erasures, newest first
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listErasures"];
        /**
         * Erase a customer: nothing that is kept names it any more, and all that was counted and billed stays
         * @description Name, email, phone, address, metadata, widget tokens and alerts over it alone are gone with the answer, and the external_id is replaced by a random one that leads back to nobody. A worker gives it to the usage, takes metadata and idempotency keys off the events, and what was sent off the audit log; until status is DONE the usage of the customer and what bills it cannot be read by itself. Sums, distinct counts and amounts stay what they are. Invoices keep the name and address that they were issued with, but for those that invoice_copies_issued_before names. Refused while a subscription of the customer has not ended, or an invoice is a draft, and while events of it are in a month that was taken out of the database, until that month is attached again. Asked for again, to erase copies of a customer that is erased already, it needs no month, unless usage was moved to the erased external_id since. Events that are sent later with the former external_id are those of a customer without a record: stop sending them first.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        post: operations["eraseCustomer"];
    };
    "/api/v1/erasures/{id}": {
        /**
         * How far an erasure is
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getErasure"];
    };
    "/api/v1/usage-moves": {
        /**
         * List the moves of usage, newest first
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["listUsageMoves"];
        /**
         * Move all usage of one external id to another
         * @description For a customer who is known by two, or was tracked under a wrong one. A worker moves the events that were accepted before the request, with what they add up to; until status is DONE usage of the former id cannot be read by itself, and the other one has a part of it. Of periods of the other one that are billed it is late usage, which the next invoice has. Refused where a subscription bills, or billed, the former id, and where usage of it is in a month that was taken out of the database, until that month is attached again. Hours of which events are lost for good while it runs stay with the former id, and it is DONE. Records of customers stay as they are.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        post: operations["moveUsage"];
    };
    "/api/v1/usage-moves/{id}": {
        /**
         * How far a move of usage is
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getUsageMove"];
    };
    "/api/v1/widget/token": {
        /**
         * Make a token that opens what one customer may see: usage, what it owes, invoices and prices
         * @description No customer record is needed. Give it to the page /embed, or read the paths below with it, which the pages of every origin may do. It ends after an hour, with the API key that asked for it, and when the record of its customer is deleted, erased or gets another external_id. What /embed shows is chosen by its parameter show; the token opens all of it.
         *
         *     Who may: an API key with the scope usage.write.
         */
        post: operations["createWidgetToken"];
    };
    "/api/v1/widget/usage": {
        /**
         * The usage of the customer of the token, on every meter where there is some in the window
         * @description In the order that the organization chose, else newest meter first. Meters that it did not choose, or that the customer does not use, are not shown to it.
         *
         *     Who may: the customer of a widget token.
         */
        get: operations["getWidgetUsage"];
    };
    "/api/v1/widget/meters/{id}/usage": {
        /**
         * The usage of the customer of the token on one meter, in all and by calendar period
         * @description A meter that the customer has never used, or that the organization shows to nobody, does not exist for it.
         *
         *     Who may: the customer of a widget token.
         */
        get: operations["getWidgetMeterUsage"];
    };
    "/api/v1/widget/billing-period": {
        /**
         * The billing period of the customer of the token, and what its plan lets it use
         * @description A limit for each meter that a subscription of the customer gives and that the organization shows, in the order of the meters. Read from what is recorded, without a cache.
         *
         *     Who may: the customer of a widget token.
         */
        get: operations["getWidgetBillingPeriod"];
    };
    "/api/v1/widget/invoices": {
        /**
         * List the invoices of the customer of the token, newest first, without their lines
         * @description Drafts are not shown.
         *
         *     Who may: the customer of a widget token.
         */
        get: operations["listWidgetInvoices"];
    };
    "/api/v1/widget/invoices/{id}": {
        /**
         * Read an invoice of the customer of the token, with its lines
         * @description A draft, or an invoice of another customer, does not exist for it.
         *
         *     Who may: the customer of a widget token.
         */
        get: operations["getWidgetInvoice"];
    };
    "/api/v1/widget/invoices/{id}/lines": {
        /**
         * The lines of an invoice of the customer of the token, page by page
         * @description Follow meta.next_cursor until it is null.
         *
         *     Who may: the customer of a widget token.
         */
        get: operations["listLinesOfWidgetInvoice"];
    };
    "/api/v1/widget/invoices/{id}/lines/{line_id}/events": {
        /**
         * The events that a line counts, in the order of their time
         * @description Follow meta.next_cursor until it is null. A line without usage, or of a meter that the organization shows to nobody, has none.
         *
         *     Who may: the customer of a widget token.
         */
        get: operations["listWidgetInvoiceLineEvents"];
    };
    "/api/v1/widget/invoices/{id}/pdf": {
        /**
         * An invoice of the customer of the token as PDF
         * @description The same file as that of GET /invoices/{id}/pdf.
         *
         *     Who may: the customer of a widget token.
         */
        get: operations["getWidgetInvoicePdf"];
    };
    "/api/v1/widget/balance": {
        /**
         * What the customer of the token owes, and its credit, by currency
         * @description A currency in which nothing is open and there never was a credit is not there.
         *
         *     Who may: the customer of a widget token.
         */
        get: operations["getWidgetBalance"];
    };
    "/api/v1/widget/plan": {
        /**
         * The plan of the customer of the token, and its prices
         * @description Who may: the customer of a widget token.
         */
        get: operations["getWidgetPlan"];
    };
    "/api/v1/widget/settings": {
        /**
         * Read what customers are shown
         * @description Who may: whoever is signed in, or a service account of any role.
         */
        get: operations["getWidgetSettings"];
        /**
         * Change what customers are shown
         * @description Holds from the next read of a widget on.
         *
         *     Who may: an admin who is signed in, or a service account with the role admin.
         */
        patch: operations["updateWidgetSettings"];
    };
}
export interface webhooks {
    "invoice.created": {
        /** invoice.created */
        post: operations["invoiceCreated"];
    };
    "invoice.finalized": {
        /** invoice.finalized */
        post: operations["invoiceFinalized"];
    };
    "invoice.credited": {
        /** invoice.credited */
        post: operations["invoiceCredited"];
    };
    "invoice.payment_recorded": {
        /** invoice.payment_recorded */
        post: operations["invoicePaymentRecorded"];
    };
    "invoice.paid": {
        /** invoice.paid */
        post: operations["invoicePaid"];
    };
    "invoice.payment_taken_back": {
        /** invoice.payment_taken_back */
        post: operations["invoicePaymentTakenBack"];
    };
    "invoice.voided": {
        /** invoice.voided */
        post: operations["invoiceVoided"];
    };
    "invoice.uncollectible": {
        /** invoice.uncollectible */
        post: operations["invoiceUncollectible"];
    };
    "invoice.past_due": {
        /** invoice.past_due */
        post: operations["invoicePastDue"];
    };
    "subscription.created": {
        /** subscription.created */
        post: operations["subscriptionCreated"];
    };
    "subscription.activated": {
        /** subscription.activated */
        post: operations["subscriptionActivated"];
    };
    "subscription.changed": {
        /** subscription.changed */
        post: operations["subscriptionChanged"];
    };
    "subscription.past_due": {
        /** subscription.past_due */
        post: operations["subscriptionPastDue"];
    };
    "subscription.canceled": {
        /** subscription.canceled */
        post: operations["subscriptionCanceled"];
    };
    "credit.granted": {
        /** credit.granted */
        post: operations["creditGranted"];
    };
    "credit.voided": {
        /** credit.voided */
        post: operations["creditVoided"];
    };
    "usage.unpriced": {
        /** usage.unpriced */
        post: operations["usageUnpriced"];
    };
    "usage.threshold_reached": {
        /** usage.threshold_reached */
        post: operations["usageThresholdReached"];
    };
    "webhook_endpoint.disabled": {
        /** webhook_endpoint.disabled */
        post: operations["webhookEndpointDisabled"];
    };
    "webhook.test": {
        /** webhook.test */
        post: operations["webhookTest"];
    };
}
export interface components {
    schemas: {
        AcceptedEvent: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            timestamp: string;
        };
        Account: {
            user: {
                /** Format: uuid */
                id: string;
                email: string;
                /**
                 * @description An admin does everything; a viewer reads everything and changes nothing.
                 * @enum {string}
                 */
                role: "admin" | "viewer";
            };
            organization: {
                /** Format: uuid */
                id: string;
                name: string;
            };
        };
        Alert: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description Null: it watches what usage comes to in open periods. */
            meter_id: string | null;
            subscription_amount: boolean;
            /** @description Null: all customers. */
            customer_id: string | null;
            thresholds: string[];
            /** @enum {string} */
            status: "ACTIVE" | "DISABLED";
            /** Format: date-time */
            created_at: string;
        };
        AlertCrossing: {
            /** Format: uuid */
            id: string;
            customer_external_id: string;
            /** @description Null, like the name, where usage came in for a customer that has no record. */
            customer_id: string | null;
            customer_name: string | null;
            /** @description Whose period it is. Null: a month of the calendar. */
            subscription_id: string | null;
            /** @description Of an amount. Null: usage. */
            currency: string | null;
            /** Format: date-time */
            period_start: string;
            /** Format: date-time */
            period_end: string;
            /** @description The zone whose midnights the period begins and ends at. */
            time_zone: string;
            threshold: string;
            /** @description What it had come to when it was seen, which is a moment later. */
            value: string;
            /** Format: date-time */
            crossed_at: string;
        };
        ApiKey: {
            /** Format: uuid */
            id: string;
            name: string;
            scopes: ("usage.write" | "usage.read")[];
            /** @constant */
            status: "ACTIVE";
            /** @description The last four characters of the key; null for one that was made before these were kept. */
            last4: string | null;
            /** @description When the key was used last, to the minute and known up to two minutes later. Null: not yet. */
            last_used_at: string | null;
            /** Format: date-time */
            created_at: string;
        };
        AuditEntry: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            action: string;
            resource_type: string;
            resource_id: string | null;
            actor: {
                /** @enum {string} */
                type: "user" | "service_account" | "api_key" | "operator";
                id: string | null;
                /** @description Of a user, as it was then. */
                email: string | null;
                /** @description Of a service account, as it was then. */
                name: string | null;
            };
            address: string | null;
            user_agent: string | null;
            /** @description What was sent, without passwords and other secrets. */
            changes: {
                [key: string]: unknown;
            } | null;
            /**
             * @description unknown: something broke while the change was made, so look whether it was.
             * @enum {string}
             */
            outcome: "done" | "unknown";
        };
        BatchItemResult: {
            status: number;
            /** Format: uuid */
            id?: string;
            code?: string;
            detail?: string;
            /**
             * @description With status 503, as in a problem.
             * @enum {string}
             */
            outcome?: "not_accepted" | "unknown";
        };
        BillingEvent: {
            /** @description Counts from 1, without a gap. */
            sequence: number;
            /** @enum {string} */
            type: "invoice.created" | "invoice.finalized" | "invoice.credited" | "invoice.payment_recorded" | "invoice.paid" | "invoice.payment_taken_back" | "invoice.voided" | "invoice.uncollectible" | "invoice.past_due" | "subscription.created" | "subscription.activated" | "subscription.changed" | "subscription.past_due" | "subscription.canceled" | "credit.granted" | "credit.voided" | "usage.unpriced" | "usage.threshold_reached" | "webhook_endpoint.disabled";
            /** Format: date-time */
            created_at: string;
            /** @description user: and the id of a user, service_account: and the id of one, or weir. */
            actor: string;
            data: {
                [key: string]: unknown;
            };
        };
        BillingSettings: {
            /** @description A time zone of the IANA database. */
            time_zone: string;
            /** @description How long an invoice stays a draft after its boundary, for events that come late. */
            invoice_grace_hours: number;
            /** @description From the issue of an invoice until it is due. */
            payment_terms_days: number;
            /** @description What the numbers of invoices begin with, as in INV-2026-000042. */
            invoice_prefix: string;
            /** @description Who issues invoices, in the lines that stand on them: name, address, tax number. Null: the name of the organization. */
            invoice_issuer: string | null;
            seller: components["schemas"]["Party"] | null;
            /**
             * @description Manual: a draft stays one until somebody finalizes it with POST /invoices/{id}/finalize. It holds for drafts that are there as well; back to automatic, those whose grace is over are finalized at once.
             * @enum {string}
             */
            finalize: "automatic" | "manual";
        };
        ChangedUsage: {
            /** Format: uuid */
            meter_id: string;
            meter_name: string;
            /** @enum {string} */
            aggregation_type: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
            unit: string | null;
            customer_external_id: string;
            /** @description Such as 2026-11, in `time_zone`. */
            month: string;
            /** @description How many of its events would be void. */
            events: number;
            /** @description How many would come into it in the place of those. */
            new_events: number;
            /** @description What usage of the month is: an exact decimal; null: none. */
            before: string | null;
            /** @description What it would be. */
            after: string | null;
        };
        Charge: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            plan_id: string;
            display_name: string;
            /** @enum {string} */
            status: "ACTIVE" | "INACTIVE";
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Periods that begin from here on are billed by it.
             */
            effective_from: string;
            /** @description Periods that begin from here on are not. One in the future is where another charge takes its place. */
            ended_at: string | null;
            /** @description The charge whose place it takes. */
            replaces: string | null;
            /** @constant */
            type: "FIXED";
            meter_id: null;
            /** @enum {string} */
            timing: "in_advance" | "in_arrears";
            /** @description A decimal. */
            unit_price: string;
        } | ({
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            plan_id: string;
            display_name: string;
            /** @enum {string} */
            status: "ACTIVE" | "INACTIVE";
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Periods that begin from here on are billed by it.
             */
            effective_from: string;
            /** @description Periods that begin from here on are not. One in the future is where another charge takes its place. */
            ended_at: string | null;
            /** @description The charge whose place it takes. */
            replaces: string | null;
            /** @constant */
            type: "USAGE";
            /** Format: uuid */
            meter_id: string;
            minimum_amount: string | null;
            maximum_amount: string | null;
            /** @constant */
            model: "per_unit";
            /** @description A decimal. */
            unit_price: string;
            included_units: string | null;
        } | {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            plan_id: string;
            display_name: string;
            /** @enum {string} */
            status: "ACTIVE" | "INACTIVE";
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Periods that begin from here on are billed by it.
             */
            effective_from: string;
            /** @description Periods that begin from here on are not. One in the future is where another charge takes its place. */
            ended_at: string | null;
            /** @description The charge whose place it takes. */
            replaces: string | null;
            /** @constant */
            type: "USAGE";
            /** Format: uuid */
            meter_id: string;
            minimum_amount: string | null;
            maximum_amount: string | null;
            /** @enum {string} */
            model: "graduated" | "volume";
            tiers: {
                up_to: string | null;
                /** @description A decimal. */
                unit_price: string;
                /** @description A decimal. */
                flat_fee: string;
            }[];
        } | {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            plan_id: string;
            display_name: string;
            /** @enum {string} */
            status: "ACTIVE" | "INACTIVE";
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Periods that begin from here on are billed by it.
             */
            effective_from: string;
            /** @description Periods that begin from here on are not. One in the future is where another charge takes its place. */
            ended_at: string | null;
            /** @description The charge whose place it takes. */
            replaces: string | null;
            /** @constant */
            type: "USAGE";
            /** Format: uuid */
            meter_id: string;
            minimum_amount: string | null;
            maximum_amount: string | null;
            /** @constant */
            model: "package";
            /** @description A decimal. */
            unit_price: string;
            /** @description A decimal. */
            package_size: string;
            included_units: string | null;
        } | {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            plan_id: string;
            display_name: string;
            /** @enum {string} */
            status: "ACTIVE" | "INACTIVE";
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Periods that begin from here on are billed by it.
             */
            effective_from: string;
            /** @description Periods that begin from here on are not. One in the future is where another charge takes its place. */
            ended_at: string | null;
            /** @description The charge whose place it takes. */
            replaces: string | null;
            /** @constant */
            type: "USAGE";
            /** Format: uuid */
            meter_id: string;
            minimum_amount: string | null;
            maximum_amount: string | null;
            /** @constant */
            model: "percentage";
            /** @description A decimal. */
            rate: string;
            fixed_amount: string | null;
            included_units: string | null;
        });
        ChargeTerms: {
            display_name: string;
            /** @constant */
            type: "FIXED";
            meter_id: string | null;
            /** @enum {string} */
            timing: "in_advance" | "in_arrears";
            /** @description A decimal. */
            unit_price: string;
        } | ({
            display_name: string;
            /** @constant */
            type: "USAGE";
            meter_id: string | null;
            minimum_amount: string | null;
            maximum_amount: string | null;
            /** @constant */
            model: "per_unit";
            /** @description A decimal. */
            unit_price: string;
            included_units: string | null;
        } | {
            display_name: string;
            /** @constant */
            type: "USAGE";
            meter_id: string | null;
            minimum_amount: string | null;
            maximum_amount: string | null;
            /** @enum {string} */
            model: "graduated" | "volume";
            tiers: {
                up_to: string | null;
                /** @description A decimal. */
                unit_price: string;
                /** @description A decimal. */
                flat_fee: string;
            }[];
        } | {
            display_name: string;
            /** @constant */
            type: "USAGE";
            meter_id: string | null;
            minimum_amount: string | null;
            maximum_amount: string | null;
            /** @constant */
            model: "package";
            /** @description A decimal. */
            unit_price: string;
            /** @description A decimal. */
            package_size: string;
            included_units: string | null;
        } | {
            display_name: string;
            /** @constant */
            type: "USAGE";
            meter_id: string | null;
            minimum_amount: string | null;
            maximum_amount: string | null;
            /** @constant */
            model: "percentage";
            /** @description A decimal. */
            rate: string;
            fixed_amount: string | null;
            included_units: string | null;
        });
        ChargeUsage: {
            /** Format: uuid */
            charge_id: string;
            /** Format: uuid */
            meter_id: string;
            quantity: string;
            amount: string;
        };
        Correction: {
            /** Format: uuid */
            id: string;
            reason: string;
            /** @description The event that counts in place of the one that is void. */
            amended_by: string | null;
            /** @description user: and the id of a user, or service_account: and that of a service account. */
            actor: string;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            event_id: string;
        };
        CorrectionMade: {
            /** Format: uuid */
            id: string;
            /** @description The event that counts in place of the one that is void. */
            amended_by: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            event_id: string;
        };
        CorrectionsPreview: {
            /** @description That of the organization, in which months begin. */
            time_zone: string;
            /** @description The 100 with most of the events, of `usage_total`. */
            usage: components["schemas"]["ChangedUsage"][];
            usage_total: number;
            /** @description The first 100 of `invoices_total`: finalized ones, then by period. An event that no charge bills is in none. */
            invoices: components["schemas"]["TouchedInvoice"][];
            invoices_total: number;
        };
        CreatedApiKey: {
            /** Format: uuid */
            id: string;
            name: string;
            scopes: ("usage.write" | "usage.read")[];
            /** @constant */
            status: "ACTIVE";
            /** @description The last four characters of the key; null for one that was made before these were kept. */
            last4: string | null;
            /** @description When the key was used last, to the minute and known up to two minutes later. Null: not yet. */
            last_used_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description The secret. It is shown here and never again. Null where the answer is repeated for its Idempotency-Key, since it is kept nowhere: make another one then. */
            key: string | null;
        };
        CreatedInvitation: {
            /** Format: uuid */
            id: string;
            email: string;
            /**
             * @description An admin does everything; a viewer reads everything and changes nothing.
             * @enum {string}
             */
            role: "admin" | "viewer";
            /** Format: date-time */
            expires_at: string;
            /** Format: date-time */
            created_at: string;
            /** @description Shown here and never again. Whoever has it can use it, once. Null where the answer is repeated for its Idempotency-Key, since it is kept nowhere: make another one then. */
            link: string | null;
            /** @description Whether the mail server has taken a mail with the link. */
            mailed: boolean;
        };
        CreatedServiceToken: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description The last four characters of the token. */
            last4: string;
            /** @description From when on it is refused. Null: until it is deleted, it is not. */
            expires_at: string | null;
            /** @description When it was used last, to the minute and known up to two minutes later. Null: not yet. */
            last_used_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description The secret. It is shown here and never again. Null where the answer is repeated for its Idempotency-Key, since it is kept nowhere: make another one then. */
            token: string | null;
        };
        Credit: {
            /** Format: uuid */
            id: string;
            amount: string;
            currency: string;
            /** @description What can still be drawn. */
            remaining: string;
            priority: number;
            expires_at: string | null;
            note: string | null;
            external_id: string | null;
            /** @enum {string} */
            status: "ACTIVE" | "USED" | "EXPIRED" | "VOID";
            /** Format: date-time */
            created_at: string;
        };
        CreditBalance: {
            /**
             * Format: date-time
             * @description The instant that was asked for, or now.
             */
            as_of: string;
            /** @description By currency. */
            balance: {
                [key: string]: string;
            };
        };
        CreditEntry: {
            /** Format: uuid */
            id: string;
            /**
             * @description DRAW: an invoice took it. RETURN: the invoice was voided and gave it back. VOID: what was left, or came back, was ended.
             * @enum {string}
             */
            kind: "DRAW" | "RETURN" | "VOID";
            amount: string;
            currency: string;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            credit_id: string;
            /** @description The invoice that took it, or gave it back. */
            invoice_id: string | null;
            invoice_number: string | null;
            /** @description The invoice below zero that the grant is the other side of, and which so lowered this one; null where somebody granted it. */
            given_by_invoice_id: string | null;
            given_by_invoice_number: string | null;
        };
        CursorMeta: {
            /** @description The cursor of the next page; null: this was the last. */
            next_cursor: string | null;
        };
        Customer: {
            /** Format: uuid */
            id: string;
            external_id: string;
            name: string | null;
            email: string | null;
            phone: string | null;
            legal_name: string | null;
            tax_id: string | null;
            billing_address_line1: string | null;
            billing_address_line2: string | null;
            billing_address_city: string | null;
            billing_address_state: string | null;
            billing_address_country: string | null;
            billing_country_code: string | null;
            billing_address_postal_code: string | null;
            metadata: {
                [key: string]: unknown;
            };
            time_zone: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description When it was erased (POST /erasures): it does not change any more. */
            erased_at: string | null;
        };
        CustomerOfMeter: {
            /** @description Null where the customer has no record. */
            customer_id: string | null;
            customer_external_id: string;
            name: string | null;
            /** @description An exact decimal. Null where there is no largest, smallest, mean or last value: nothing was counted. */
            total_usage: string | null;
            event_count: number;
        };
        Entitlement: {
            /** @description Its lookup_key. */
            feature: string;
            /** @enum {string} */
            type: "meter" | "switch" | "custom";
            has_access: boolean;
            /** @enum {string} */
            reason: "ok" | "no_subscription" | "not_in_plan" | "disabled" | "limit_reached";
            /** @description Null: there is none. */
            limit: string | null;
            /** @description What is recorded in the window of the limit. Where the window begins within an hour, as that of a limit that never resets may, events of that hour are missing while their month is taken out of the database. */
            usage: string | null;
            remaining: string | null;
            overage: string | null;
            is_soft_limit: boolean;
            static_value: string | null;
            /** @description Since when usage counts. */
            period_start: string | null;
            /** @description When it begins at 0 again; null: never. */
            resets_at: string | null;
            /** Format: date-time */
            as_of: string;
            /** @description Events that were accepted since then may not be in the usage yet. Null: all are. While the queue cannot be asked it is period_start: any of them may be missing. */
            queued_since: string | null;
        };
        Erasure: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            status: "RUNNING" | "DONE";
            /** @description How many events have the new external id by now. */
            events: number;
            /** Format: date-time */
            created_at: string;
            finished_at: string | null;
            /** @description The record, which stays without what named the customer. */
            customer_id: string | null;
            /** @description What usage, subscriptions and invoices name the customer by from now on. */
            external_id: string;
            /** @description A meter whose usage is grouped by what names the customer, since the erasure was asked for or on a day with more groups than are kept: take the key out of its metadata_keys, and the erasure goes on. Null: there is none. */
            grouped_meter_id: string | null;
        };
        /** @description What took an event out of the count; for voided events. */
        EventCorrection: {
            /** Format: uuid */
            id: string;
            reason: string;
            /** @description The event that counts in place of the one that is void. */
            amended_by: string | null;
            /** @description user: and the id of a user, or service_account: and that of a service account. */
            actor: string;
            /** Format: date-time */
            created_at: string;
        };
        EventReceipt: {
            /** Format: uuid */
            id: string;
            /**
             * @description A voided event was recorded, and a correction has taken it out of the count.
             * @enum {string}
             */
            status: "queued" | "recorded" | "voided" | "rejected" | "duplicate";
            /** @description Why the event is not counted; for rejected events. */
            reason?: string;
            /**
             * Format: uuid
             * @description The event that holds the idempotency key; for duplicates.
             */
            duplicate_of?: string;
            correction?: components["schemas"]["EventCorrection"];
            /**
             * Format: uuid
             * @description The voided event in whose place this one counts; where there is one.
             */
            amends?: string;
            /**
             * @description Whether the event came in or was voided since the line before; for lines with changes=true.
             * @enum {string}
             */
            change?: "added" | "removed";
            /** Format: uuid */
            meter_id: string;
            customer_external_id: string;
            quantity: string;
            timestamp: string;
            received_at: string;
            idempotency_key: string | null;
            metadata: {
                [key: string]: unknown;
            } | null;
        };
        EventRejection: {
            reason: string;
            /** Format: uuid */
            meter_id: string;
            count: number;
            /**
             * Format: date-time
             * @description When the first of them was rejected.
             */
            first_at: string;
            /** Format: date-time */
            last_at: string;
        };
        Feature: {
            /** Format: uuid */
            id: string;
            name: string;
            lookup_key: string;
            /** @enum {string} */
            type: "meter" | "switch" | "custom";
            meter_id: string | null;
            meter_token: string | null;
            aggregation_type: ("COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT") | null;
            unit: string | null;
            metadata_keys: string[] | null;
            /** @description Number of plans that use the feature. */
            plan_count: number;
            /** Format: date-time */
            created_at: string;
        };
        FirstCharge: {
            /** @description What the lines of invoices are called. */
            display_name: string;
            /** @description Not in the past, and at most 24 months ahead; default: now. Periods that begin from then on are billed by it. ISO 8601 with an offset; or a bare date, which is its first instant in the zone of the organization. Customers whose midnight comes earlier get the price a period later: an instant of the day before includes them. */
            effective_from?: string;
            /** @constant */
            type: "FIXED";
            /**
             * @default in_advance
             * @enum {string}
             */
            timing?: "in_advance" | "in_arrears";
            /** @description The price of a period, of a unit or of a package. */
            unit_price: number | string;
        } | ({
            /** @description What the lines of invoices are called. */
            display_name: string;
            /** @description Not in the past, and at most 24 months ahead; default: now. Periods that begin from then on are billed by it. ISO 8601 with an offset; or a bare date, which is its first instant in the zone of the organization. Customers whose midnight comes earlier get the price a period later: an instant of the day before includes them. */
            effective_from?: string;
            /** Format: uuid */
            meter_id: string;
            /** @constant */
            type: "USAGE";
            /**
             * @default per_unit
             * @constant
             */
            model?: "per_unit";
            /** @description The price of a period, of a unit or of a package. */
            unit_price: number | string;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            /** @description What the lines of invoices are called. */
            display_name: string;
            /** @description Not in the past, and at most 24 months ahead; default: now. Periods that begin from then on are billed by it. ISO 8601 with an offset; or a bare date, which is its first instant in the zone of the organization. Customers whose midnight comes earlier get the price a period later: an instant of the day before includes them. */
            effective_from?: string;
            /** Format: uuid */
            meter_id: string;
            /** @constant */
            type: "USAGE";
            /** @constant */
            model: "graduated";
            /** @description In rising order of up_to; the last has no end. */
            tiers: {
                up_to: (number | string) | null;
                unit_price: number | string;
                /** @description Due once a part of a unit falls into the tier. */
                flat_fee?: number | string;
            }[];
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            /** @description What the lines of invoices are called. */
            display_name: string;
            /** @description Not in the past, and at most 24 months ahead; default: now. Periods that begin from then on are billed by it. ISO 8601 with an offset; or a bare date, which is its first instant in the zone of the organization. Customers whose midnight comes earlier get the price a period later: an instant of the day before includes them. */
            effective_from?: string;
            /** Format: uuid */
            meter_id: string;
            /** @constant */
            type: "USAGE";
            /** @constant */
            model: "volume";
            /** @description In rising order of up_to; the last has no end. */
            tiers: {
                up_to: (number | string) | null;
                unit_price: number | string;
                /** @description Due once a part of a unit falls into the tier. */
                flat_fee?: number | string;
            }[];
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            /** @description What the lines of invoices are called. */
            display_name: string;
            /** @description Not in the past, and at most 24 months ahead; default: now. Periods that begin from then on are billed by it. ISO 8601 with an offset; or a bare date, which is its first instant in the zone of the organization. Customers whose midnight comes earlier get the price a period later: an instant of the day before includes them. */
            effective_from?: string;
            /** Format: uuid */
            meter_id: string;
            /** @constant */
            type: "USAGE";
            /** @constant */
            model: "package";
            /** @description The price of a period, of a unit or of a package. */
            unit_price: number | string;
            /** @description A package that was begun is paid. */
            package_size: number | string;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            /** @description What the lines of invoices are called. */
            display_name: string;
            /** @description Not in the past, and at most 24 months ahead; default: now. Periods that begin from then on are billed by it. ISO 8601 with an offset; or a bare date, which is its first instant in the zone of the organization. Customers whose midnight comes earlier get the price a period later: an instant of the day before includes them. */
            effective_from?: string;
            /** Format: uuid */
            meter_id: string;
            /** @constant */
            type: "USAGE";
            /** @constant */
            model: "percentage";
            /** @description Percent of the quantity. */
            rate: number | string;
            fixed_amount?: (number | string) | null;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        });
        Invitation: {
            /** Format: uuid */
            id: string;
            email: string;
            /**
             * @description An admin does everything; a viewer reads everything and changes nothing.
             * @enum {string}
             */
            role: "admin" | "viewer";
            /** Format: date-time */
            expires_at: string;
            /** Format: date-time */
            created_at: string;
        };
        Invoice: {
            /** Format: uuid */
            id: string;
            /** @description Null for a draft. */
            invoice_number: string | null;
            /** @enum {string} */
            kind: "SUBSCRIPTION" | "ADJUSTMENT";
            /** @enum {string} */
            status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
            /** Format: uuid */
            customer_id: string;
            /** Format: uuid */
            subscription_id: string;
            /** @description The boundary that it is of; null for an ADJUSTMENT after the end. */
            cycle: number | null;
            currency: string;
            /** @description A date in the time zone of the organization. */
            issue_date: string | null;
            due_date: string | null;
            /** Format: date-time */
            period_start: string;
            /** Format: date-time */
            period_end: string;
            /** @description A decimal with exactly the digits of the currency. */
            subtotal: string;
            /** @description A decimal with exactly the digits of the currency. */
            tax: string;
            /** @description A decimal with exactly the digits of the currency. */
            total: string;
            /** @description A decimal with exactly the digits of the currency. */
            credits_applied: string;
            /** @description A decimal with exactly the digits of the currency. */
            amount_paid: string;
            /** @description A decimal with exactly the digits of the currency. */
            amount_due: string;
            /** @description When its grace is over. Null where the billing settings leave it to people to finalize. */
            finalizes_at: string | null;
            finalized_at: string | null;
            /** @description When the last payment was made, once nothing is due. */
            paid_at: string | null;
            /** @description Of the payment after which nothing was due. */
            reference: string | null;
            note: string | null;
            /** @description Name and address as they were when it was finalized. */
            customer: {
                [key: string]: unknown;
            } | null;
            /** @description Who issued it, in lines, as the settings said when it was finalized. Null before. */
            issuer: string | null;
            /** @description Whether it is open and its due date has ended. */
            is_past_due: boolean;
            /** @description Who issued it, field by field, as the settings said when it was finalized. Null before, and where they do not say. */
            seller: components["schemas"]["Party"] | null;
            /** @description To whom, field by field, as the customer was when it was finalized. Null before. */
            buyer: components["schemas"]["Party"] | null;
            /** Format: date-time */
            created_at: string;
            /** @description When a draft was computed; null once it is finalized, and where it could not be. */
            computed_at: string | null;
            /** @description Why a draft could not be computed, where others of a list could: its amounts are 0 then, and computed_at is null. Null for all others. */
            not_computed: components["schemas"]["NotComputed"] | null;
        };
        InvoiceLine: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "FIXED" | "USAGE" | "LATE_USAGE" | "ADJUSTMENT";
            description: string;
            charge_id: string | null;
            /** @description As it was when the period was opened. Null for an ADJUSTMENT. */
            charge: components["schemas"]["ChargeTerms"] | null;
            /** @description The period that it is for, counted. */
            cycle: number | null;
            period_start: string | null;
            period_end: string | null;
            /** @description Local dates in force, of those of the whole period; null where it is whole. */
            days: string | null;
            /** @description What the meter reads, an exact decimal. */
            quantity: string | null;
            event_count: number | null;
            /** @description By tier, or the number of packages, before minimum and maximum; else null. */
            detail: ({
                up_to: string | null;
                quantity: string;
                exact_amount: string;
            }[] | {
                packages: string;
            }) | null;
            /** @description What the due comes to, before the rounding: a decimal, or n/d. */
            exact_amount: string;
            /** @description A decimal with exactly the digits of the currency. */
            billed_before: string;
            /** @description exact_amount, rounded, less billed_before, plus waived. */
            amount: string;
            /** @description What the line would have taken away more, had it been asked for: of void invoices nothing comes back. Null where nothing was cut off. */
            waived: string | null;
            /** @description It bills what was recorded before this closing. Null in a draft. */
            closing: number | null;
            rating_version: number;
        };
        InvoicePreview: {
            /** @enum {string} */
            kind: "SUBSCRIPTION" | "ADJUSTMENT";
            /** @enum {string} */
            status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
            /** Format: uuid */
            customer_id: string;
            /** Format: uuid */
            subscription_id: string;
            /** @description The boundary that it is of; null for an ADJUSTMENT after the end. */
            cycle: number | null;
            currency: string;
            /** @description A date in the time zone of the organization. */
            issue_date: string | null;
            due_date: string | null;
            /** Format: date-time */
            period_start: string;
            /** Format: date-time */
            period_end: string;
            /** @description A decimal with exactly the digits of the currency. */
            subtotal: string;
            /** @description A decimal with exactly the digits of the currency. */
            tax: string;
            /** @description A decimal with exactly the digits of the currency. */
            total: string;
            /** @description A decimal with exactly the digits of the currency. */
            credits_applied: string;
            /** @description A decimal with exactly the digits of the currency. */
            amount_paid: string;
            /** @description A decimal with exactly the digits of the currency. */
            amount_due: string;
            /** @description When its grace is over. Null where the billing settings leave it to people to finalize. */
            finalizes_at: string | null;
            finalized_at: string | null;
            /** @description When the last payment was made, once nothing is due. */
            paid_at: string | null;
            /** @description Of the payment after which nothing was due. */
            reference: string | null;
            note: string | null;
            /** @description Name and address as they were when it was finalized. */
            customer: {
                [key: string]: unknown;
            } | null;
            /** @description Who issued it, in lines, as the settings said when it was finalized. Null before. */
            issuer: string | null;
            /** @description Whether it is open and its due date has ended. */
            is_past_due: boolean;
            /** @description Who issued it, field by field, as the settings said when it was finalized. Null before, and where they do not say. */
            seller: components["schemas"]["Party"] | null;
            /** @description To whom, field by field, as the customer was when it was finalized. Null before. */
            buyer: components["schemas"]["Party"] | null;
            /** Format: date-time */
            created_at: string;
            /** @description When a draft was computed; null once it is finalized, and where it could not be. */
            computed_at: string | null;
            /** @description At most 500, and those that hold 4000 tiers in all: of what is more, the first ones. */
            lines: {
                /** @enum {string} */
                kind: "FIXED" | "USAGE" | "LATE_USAGE" | "ADJUSTMENT";
                description: string;
                charge_id: string | null;
                /** @description As it was when the period was opened. Null for an ADJUSTMENT. */
                charge: components["schemas"]["ChargeTerms"] | null;
                /** @description The period that it is for, counted. */
                cycle: number | null;
                period_start: string | null;
                period_end: string | null;
                /** @description Local dates in force, of those of the whole period; null where it is whole. */
                days: string | null;
                /** @description What the meter reads, an exact decimal. */
                quantity: string | null;
                event_count: number | null;
                /** @description By tier, or the number of packages, before minimum and maximum; else null. */
                detail: ({
                    up_to: string | null;
                    quantity: string;
                    exact_amount: string;
                }[] | {
                    packages: string;
                }) | null;
                /** @description What the due comes to, before the rounding: a decimal, or n/d. */
                exact_amount: string;
                /** @description A decimal with exactly the digits of the currency. */
                billed_before: string;
                /** @description exact_amount, rounded, less billed_before, plus waived. */
                amount: string;
                /** @description What the line would have taken away more, had it been asked for: of void invoices nothing comes back. Null where nothing was cut off. */
                waived: string | null;
                /** @description It bills what was recorded before this closing. Null in a draft. */
                closing: number | null;
                rating_version: number;
            }[];
            /** @description How many lines there are, where these are not all. */
            lines_total?: number;
        };
        InvoiceWithLines: {
            /** Format: uuid */
            id: string;
            /** @description Null for a draft. */
            invoice_number: string | null;
            /** @enum {string} */
            kind: "SUBSCRIPTION" | "ADJUSTMENT";
            /** @enum {string} */
            status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
            /** Format: uuid */
            customer_id: string;
            /** Format: uuid */
            subscription_id: string;
            /** @description The boundary that it is of; null for an ADJUSTMENT after the end. */
            cycle: number | null;
            currency: string;
            /** @description A date in the time zone of the organization. */
            issue_date: string | null;
            due_date: string | null;
            /** Format: date-time */
            period_start: string;
            /** Format: date-time */
            period_end: string;
            /** @description A decimal with exactly the digits of the currency. */
            subtotal: string;
            /** @description A decimal with exactly the digits of the currency. */
            tax: string;
            /** @description A decimal with exactly the digits of the currency. */
            total: string;
            /** @description A decimal with exactly the digits of the currency. */
            credits_applied: string;
            /** @description A decimal with exactly the digits of the currency. */
            amount_paid: string;
            /** @description A decimal with exactly the digits of the currency. */
            amount_due: string;
            /** @description When its grace is over. Null where the billing settings leave it to people to finalize. */
            finalizes_at: string | null;
            finalized_at: string | null;
            /** @description When the last payment was made, once nothing is due. */
            paid_at: string | null;
            /** @description Of the payment after which nothing was due. */
            reference: string | null;
            note: string | null;
            /** @description Name and address as they were when it was finalized. */
            customer: {
                [key: string]: unknown;
            } | null;
            /** @description Who issued it, in lines, as the settings said when it was finalized. Null before. */
            issuer: string | null;
            /** @description Whether it is open and its due date has ended. */
            is_past_due: boolean;
            /** @description Who issued it, field by field, as the settings said when it was finalized. Null before, and where they do not say. */
            seller: components["schemas"]["Party"] | null;
            /** @description To whom, field by field, as the customer was when it was finalized. Null before. */
            buyer: components["schemas"]["Party"] | null;
            /** Format: date-time */
            created_at: string;
            /** @description When a draft was computed; null once it is finalized, and where it could not be. */
            computed_at: string | null;
            /** @description At most 500, and those that hold 4000 tiers in all: of what is more, the first ones. */
            lines: components["schemas"]["InvoiceLine"][];
            /** @description In the order in which they were recorded. Those that stand add up to amount_paid. */
            payments: components["schemas"]["Payment"][];
            /** @description How many lines there are, where these are not all. */
            lines_total?: number;
            /** @description The cursor of the others in GET /invoices/{id}/lines, where these are not all. */
            lines_next_cursor?: string;
        };
        LineUsage: {
            meter_id: string | null;
            aggregation_type: ("COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT") | null;
            unit: string | null;
            /** @description An exact decimal. Null where there is no largest, smallest, mean or last value: nothing was counted. */
            total_usage: string | null;
            event_count: number;
            unique_customers: number;
            period_start: string | null;
            period_end: string | null;
            /** @description With group_by_metadata or filter: events of days (UTC) on which the meter saw more than 1,000 combinations of values, and whose own was not among the first of them. They are in total_usage and in the rest, but under no value and in no filter. */
            overflow_event_count?: number;
            grouped_data: {
                /** @description 2026-11, 2026-W47, 2026-11-20, or an hour with its offset from UTC: 2026-11-20T16:00+01:00. */
                period: string;
                /**
                 * Format: date-time
                 * @description Where the calendar period begins; the window may begin later.
                 */
                period_start: string;
                /** @description An exact decimal. Null where there is no largest, smallest, mean or last value: nothing was counted. */
                usage: string | null;
                event_count: number;
            }[];
            /** @description With group_by_metadata: largest first, then the rest if there is any. */
            groups?: {
                /** @description As text. Null: the events have no such key, or null, an array or an object there; or this is the rest. A text of more than 100 characters is its first 80 and a hash, and filter takes both forms. */
                value: string | null;
                /** @description All values beyond groups_limit together. */
                is_rest: boolean;
                /** @description An exact decimal. Null where there is no largest, smallest, mean or last value: nothing was counted. */
                total_usage: string | null;
                event_count: number;
                /** @description The periods of the whole, in the same order. */
                grouped_data: {
                    /** @description 2026-11, 2026-W47, 2026-11-20, or an hour with its offset from UTC: 2026-11-20T16:00+01:00. */
                    period: string;
                    /**
                     * Format: date-time
                     * @description Where the calendar period begins; the window may begin later.
                     */
                    period_start: string;
                    /** @description An exact decimal. Null where there is no largest, smallest, mean or last value: nothing was counted. */
                    usage: string | null;
                    event_count: number;
                }[];
            }[];
        };
        ListedCredit: {
            /** Format: uuid */
            id: string;
            amount: string;
            currency: string;
            /** @description What can still be drawn. */
            remaining: string;
            priority: number;
            expires_at: string | null;
            note: string | null;
            external_id: string | null;
            /** @enum {string} */
            status: "ACTIVE" | "USED" | "EXPIRED" | "VOID";
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            customer_id: string;
            /** @description The invoice below zero that it is the other side of; null where somebody granted it. */
            invoice_id: string | null;
        };
        ListedLine: {
            /** Format: uuid */
            invoice_id: string;
            invoice_number: string;
            /** @enum {string} */
            invoice_status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
            issue_date: string;
            /** Format: uuid */
            customer_id: string;
            /** @description As it was when the invoice was finalized; once that is erased, the one that the customer has now. */
            customer_external_id: string | null;
            /** @description As it was when the invoice was finalized. */
            customer_name: string | null;
            /** Format: uuid */
            subscription_id: string;
            currency: string;
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "FIXED" | "USAGE" | "LATE_USAGE" | "ADJUSTMENT";
            description: string;
            charge_id: string | null;
            meter_id: string | null;
            cycle: number | null;
            period_start: string | null;
            period_end: string | null;
            days: string | null;
            quantity: string | null;
            event_count: number | null;
            exact_amount: string;
            billed_before: string;
            waived: string | null;
            amount: string;
            closing: number | null;
            rating_version: number;
        };
        Meter: {
            /** Format: uuid */
            id: string;
            name: string;
            meter_token: string;
            /** @enum {string} */
            aggregation_type: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
            unit: string | null;
            /** @enum {string} */
            status: "ACTIVE" | "ARCHIVED";
            metadata_keys: string[];
            /** @description Null once the feature was deleted. */
            feature_id: string | null;
            /** Format: date-time */
            created_at: string;
        };
        MeterOfCustomer: {
            /** Format: uuid */
            meter_id: string;
            name: string;
            meter_token: string;
            /** @enum {string} */
            aggregation_type: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
            unit: string | null;
            /** @enum {string} */
            status: "ACTIVE" | "ARCHIVED";
            /** @description An exact decimal. Null where there is no largest, smallest, mean or last value: nothing was counted. */
            total_usage: string | null;
            event_count: number;
        };
        MeterUsage: {
            /** Format: uuid */
            meter_id: string;
            /** @enum {string} */
            aggregation_type: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
            unit: string | null;
            /** @description An exact decimal. Null where there is no largest, smallest, mean or last value: nothing was counted. */
            total_usage: string | null;
            event_count: number;
            unique_customers: number;
            /** Format: date-time */
            period_start: string;
            /**
             * Format: date-time
             * @description The first instant that does not count any more.
             */
            period_end: string;
            /** @description With group_by_metadata or filter: events of days (UTC) on which the meter saw more than 1,000 combinations of values, and whose own was not among the first of them. They are in total_usage and in the rest, but under no value and in no filter. */
            overflow_event_count?: number;
            grouped_data: {
                /** @description 2026-11, 2026-W47, 2026-11-20, or an hour with its offset from UTC: 2026-11-20T16:00+01:00. */
                period: string;
                /**
                 * Format: date-time
                 * @description Where the calendar period begins; the window may begin later.
                 */
                period_start: string;
                /** @description An exact decimal. Null where there is no largest, smallest, mean or last value: nothing was counted. */
                usage: string | null;
                event_count: number;
            }[];
            /** @description With group_by_metadata: largest first, then the rest if there is any. */
            groups?: {
                /** @description As text. Null: the events have no such key, or null, an array or an object there; or this is the rest. A text of more than 100 characters is its first 80 and a hash, and filter takes both forms. */
                value: string | null;
                /** @description All values beyond groups_limit together. */
                is_rest: boolean;
                /** @description An exact decimal. Null where there is no largest, smallest, mean or last value: nothing was counted. */
                total_usage: string | null;
                event_count: number;
                /** @description The periods of the whole, in the same order. */
                grouped_data: {
                    /** @description 2026-11, 2026-W47, 2026-11-20, or an hour with its offset from UTC: 2026-11-20T16:00+01:00. */
                    period: string;
                    /**
                     * Format: date-time
                     * @description Where the calendar period begins; the window may begin later.
                     */
                    period_start: string;
                    /** @description An exact decimal. Null where there is no largest, smallest, mean or last value: nothing was counted. */
                    usage: string | null;
                    event_count: number;
                }[];
            }[];
        };
        NewCharge: {
            /** @description What the lines of invoices are called. */
            display_name: string;
            /**
             * Format: uuid
             * @description The charge whose place this one takes, in one step: of the same meter, or FIXED as well. It ends in the instant in which this one begins, so each period is billed by one of them.
             */
            replaces?: string;
            /** @description Not in the past, and at most 24 months ahead; default: now. Periods that begin from then on are billed by it. ISO 8601 with an offset; or a bare date, which is its first instant in the zone of the organization. Customers whose midnight comes earlier get the price a period later: an instant of the day before includes them. */
            effective_from?: string;
            /** @constant */
            type: "FIXED";
            /**
             * @default in_advance
             * @enum {string}
             */
            timing?: "in_advance" | "in_arrears";
            /** @description The price of a period, of a unit or of a package. */
            unit_price: number | string;
        } | ({
            /** @description What the lines of invoices are called. */
            display_name: string;
            /**
             * Format: uuid
             * @description The charge whose place this one takes, in one step: of the same meter, or FIXED as well. It ends in the instant in which this one begins, so each period is billed by one of them.
             */
            replaces?: string;
            /** @description Not in the past, and at most 24 months ahead; default: now. Periods that begin from then on are billed by it. ISO 8601 with an offset; or a bare date, which is its first instant in the zone of the organization. Customers whose midnight comes earlier get the price a period later: an instant of the day before includes them. */
            effective_from?: string;
            /** Format: uuid */
            meter_id: string;
            /** @constant */
            type: "USAGE";
            /**
             * @default per_unit
             * @constant
             */
            model?: "per_unit";
            /** @description The price of a period, of a unit or of a package. */
            unit_price: number | string;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            /** @description What the lines of invoices are called. */
            display_name: string;
            /**
             * Format: uuid
             * @description The charge whose place this one takes, in one step: of the same meter, or FIXED as well. It ends in the instant in which this one begins, so each period is billed by one of them.
             */
            replaces?: string;
            /** @description Not in the past, and at most 24 months ahead; default: now. Periods that begin from then on are billed by it. ISO 8601 with an offset; or a bare date, which is its first instant in the zone of the organization. Customers whose midnight comes earlier get the price a period later: an instant of the day before includes them. */
            effective_from?: string;
            /** Format: uuid */
            meter_id: string;
            /** @constant */
            type: "USAGE";
            /** @constant */
            model: "graduated";
            /** @description In rising order of up_to; the last has no end. */
            tiers: {
                up_to: (number | string) | null;
                unit_price: number | string;
                /** @description Due once a part of a unit falls into the tier. */
                flat_fee?: number | string;
            }[];
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            /** @description What the lines of invoices are called. */
            display_name: string;
            /**
             * Format: uuid
             * @description The charge whose place this one takes, in one step: of the same meter, or FIXED as well. It ends in the instant in which this one begins, so each period is billed by one of them.
             */
            replaces?: string;
            /** @description Not in the past, and at most 24 months ahead; default: now. Periods that begin from then on are billed by it. ISO 8601 with an offset; or a bare date, which is its first instant in the zone of the organization. Customers whose midnight comes earlier get the price a period later: an instant of the day before includes them. */
            effective_from?: string;
            /** Format: uuid */
            meter_id: string;
            /** @constant */
            type: "USAGE";
            /** @constant */
            model: "volume";
            /** @description In rising order of up_to; the last has no end. */
            tiers: {
                up_to: (number | string) | null;
                unit_price: number | string;
                /** @description Due once a part of a unit falls into the tier. */
                flat_fee?: number | string;
            }[];
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            /** @description What the lines of invoices are called. */
            display_name: string;
            /**
             * Format: uuid
             * @description The charge whose place this one takes, in one step: of the same meter, or FIXED as well. It ends in the instant in which this one begins, so each period is billed by one of them.
             */
            replaces?: string;
            /** @description Not in the past, and at most 24 months ahead; default: now. Periods that begin from then on are billed by it. ISO 8601 with an offset; or a bare date, which is its first instant in the zone of the organization. Customers whose midnight comes earlier get the price a period later: an instant of the day before includes them. */
            effective_from?: string;
            /** Format: uuid */
            meter_id: string;
            /** @constant */
            type: "USAGE";
            /** @constant */
            model: "package";
            /** @description The price of a period, of a unit or of a package. */
            unit_price: number | string;
            /** @description A package that was begun is paid. */
            package_size: number | string;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            /** @description What the lines of invoices are called. */
            display_name: string;
            /**
             * Format: uuid
             * @description The charge whose place this one takes, in one step: of the same meter, or FIXED as well. It ends in the instant in which this one begins, so each period is billed by one of them.
             */
            replaces?: string;
            /** @description Not in the past, and at most 24 months ahead; default: now. Periods that begin from then on are billed by it. ISO 8601 with an offset; or a bare date, which is its first instant in the zone of the organization. Customers whose midnight comes earlier get the price a period later: an instant of the day before includes them. */
            effective_from?: string;
            /** Format: uuid */
            meter_id: string;
            /** @constant */
            type: "USAGE";
            /** @constant */
            model: "percentage";
            /** @description Percent of the quantity. */
            rate: number | string;
            fixed_amount?: (number | string) | null;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        });
        NotComputed: {
            /** @description month_taken_out, or internal_error. */
            code: string;
            /** @description What is the matter and what to do about it, for a person. */
            detail: string;
        };
        Organization: {
            /** Format: uuid */
            id: string;
            name: string;
            /** Format: date-time */
            created_at: string;
        };
        Overview: {
            /**
             * Format: date-time
             * @description The first instant of this month in the time zone of the organization.
             */
            period_start: string;
            /** @description That of the organization, in which months and days are. */
            time_zone: string;
            /**
             * Format: date-time
             * @description The end of the quarter of an hour that is under way: figures are sums of quarters of an hour.
             */
            period_end: string;
            events: {
                /** @description Events of this period. Null where it would take too long to count. */
                recorded: number | null;
                /** @description Those of the month before, up to the same time of it. */
                previous: number | null;
                /** @description One for each day of this month, in the time zone of the organization. Null where it would take too long to count. */
                days: {
                    /**
                     * Format: date-time
                     * @description The first instant of the day.
                     */
                    start: string;
                    /** @description Events of this day of this month; null where it is still to come. */
                    recorded: number | null;
                    /** @description Those of the same day of the month before, all of it; null where that had no such day. */
                    previous: number | null;
                }[] | null;
            };
            /** @description Those with the most events in this period. Null where it would take too long to count. */
            top_meters: {
                /** Format: uuid */
                meter_id: string;
                name: string;
                unit: string | null;
                /** @enum {string} */
                aggregation_type: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
                /** @description An exact decimal. Null where there is no largest, smallest, mean or last value: nothing was counted. */
                usage: string | null;
                event_count: number;
            }[] | null;
            /** @description Those with the most events in this period. Null where it would take too long to count. */
            top_customers: {
                customer_external_id: string;
                /** @description Null where the customer has no record. */
                customer_id: string | null;
                name: string | null;
                event_count: number;
            }[] | null;
            rejected: {
                /** @description Rejected events that were not replayed yet. */
                count: number;
            };
            /** @description Accepted events that are not recorded yet. Null while Redis is away. */
            waiting: {
                /** @description How many, about: exactly where they are few. */
                events: number;
                /** @description How long the oldest may wait already. Null: none waits. */
                oldest_seconds: number | null;
            } | null;
            /** @description By currency. */
            invoices: {
                currency: string;
                draft_count: number;
                /** @description Open invoices, past due or not. */
                open_count: number;
                /** @description What is still to be paid of them. */
                open_amount: string;
                past_due_count: number;
                past_due_amount: string;
                /** @description What the invoices come to that were finalized in this period, without those that were voided. */
                finalized_total: string;
                /** @description The same of the whole month before. */
                finalized_before: string;
                /** @description Those whose invoices of `finalized_total` came to most. */
                top_customers: {
                    /** Format: uuid */
                    customer_id: string;
                    external_id: string;
                    name: string | null;
                    finalized_total: string;
                }[];
            }[];
            /** @description Whether it would take too long to add up the invoices: `invoices` is empty then. */
            has_uncounted_invoices: boolean;
            /** @description What may be expected to be invoiced, by currency and before credits. A worker reckons it for who asks: at most every ten minutes, and less often where it takes long. Null before the first time. */
            expected: {
                /** Format: date-time */
                began_at: string;
                /**
                 * Format: date-time
                 * @description Each subscription was read at some time between the two.
                 */
                ended_at: string;
                currencies: {
                    currency: string;
                    /** @description What all drafts come to. */
                    drafts: string;
                    /** @description What the open periods of all subscriptions have come to so far that end by the end of this month: their usage, and what is billed at their end. A month ends where the customer of a period is. */
                    open_periods: string;
                    total: string;
                    /** @description How many drafts and open periods are not in it, since they cannot be computed now. */
                    left_out: number;
                }[];
            } | null;
        };
        PageMeta: {
            page: number;
            page_size: number;
            total: number;
            total_pages: number;
            /** @description The cursor of the next page; null: this was the last. */
            next_cursor: string | null;
        };
        Party: {
            legal_name: string | null;
            tax_id: string | null;
            address_line1: string | null;
            address_line2: string | null;
            city: string | null;
            state: string | null;
            postal_code: string | null;
            /** @description Two letters of ISO 3166-1. */
            country: string | null;
        };
        PasswordReset: {
            /** @description Shown here and never again. Whoever has it can use it, once. Null where the answer is repeated for its Idempotency-Key, since it is kept nowhere: make another one then. */
            link: string | null;
            /** @description Whether the mail server has taken a mail with the link. */
            mailed: boolean;
            /** Format: date-time */
            expires_at: string;
        };
        Payment: {
            /** Format: uuid */
            id: string;
            /** @description A decimal with exactly the digits of the currency. */
            amount: string;
            /** Format: date-time */
            paid_at: string;
            /** @description What paid it, such as the id of a processor. */
            reference: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description Null: it stands. */
            taken_back_at: string | null;
            /** @description Why it was taken back. */
            note: string | null;
        };
        Plan: {
            /** Format: uuid */
            id: string;
            name: string;
            lookup_id: string;
            /** @enum {string} */
            type: "FIXED" | "USAGE" | "HYBRID";
            /** @enum {string} */
            billing_interval: "day" | "week" | "month" | "year";
            currency: string;
            is_active: boolean;
            trial_days: number;
            description: string | null;
            /** Format: date-time */
            created_at: string;
        };
        PlanChangePreview: {
            invoice: components["schemas"]["InvoicePreview"] | null;
        };
        PlanFeature: {
            /** Format: uuid */
            feature_id: string;
            is_enabled: boolean;
            /** @description A decimal; null: unlimited. */
            usage_limit: string | null;
            usage_reset_period: ("hour" | "day" | "week" | "month" | "year") | null;
            is_soft_limit: boolean;
            static_value: string | null;
            /** Format: date-time */
            created_at: string;
        };
        PlanWithFeatures: {
            /** Format: uuid */
            id: string;
            name: string;
            lookup_id: string;
            /** @enum {string} */
            type: "FIXED" | "USAGE" | "HYBRID";
            /** @enum {string} */
            billing_interval: "day" | "week" | "month" | "year";
            currency: string;
            is_active: boolean;
            trial_days: number;
            description: string | null;
            /** Format: date-time */
            created_at: string;
            features: components["schemas"]["PlanFeature"][];
            /** @description Those that have not ended, and the 20 that ended last. All: GET /plans/{id}/charges. */
            charges: components["schemas"]["Charge"][];
            /** @description How many have ended, where these are not all of them. */
            ended_charges_total?: number;
        };
        Problem: {
            type: string;
            title: string;
            status: number;
            /** @description What went wrong and what to do about it, for a person. */
            detail: string;
            /** @enum {string} */
            code: "malformed_json" | "malformed_request" | "two_credentials" | "unauthenticated" | "missing_scope" | "missing_role" | "person_only" | "admin_only" | "cross_origin" | "signup_closed" | "not_found" | "meter_not_found" | "link_not_valid" | "method_not_allowed" | "request_timeout" | "email_taken" | "last_admin" | "mail_not_set_up" | "lookup_key_taken" | "lookup_id_taken" | "external_id_taken" | "feature_in_use" | "feature_already_in_plan" | "plan_inactive" | "plan_in_use" | "customer_in_use" | "customer_erased" | "external_id_billed" | "grouped_by_customer" | "usage_moving" | "meter_already_billed" | "meter_already_priced" | "currency_differs" | "interval_differs" | "charge_inactive" | "subscription_behind" | "subscription_ended" | "subscription_not_ended" | "earlier_draft" | "invoice_not_draft" | "invoice_not_open" | "invoice_not_finalized" | "invoice_partly_paid" | "invoice_given_back" | "payment_recorded" | "payment_above_due" | "payment_taken_back" | "groups_not_ready" | "replay_under_way" | "webhook_endpoint_disabled" | "request_under_way" | "duplicate_event" | "not_replayable" | "not_correctable" | "already_voided" | "month_taken_out" | "precondition_failed" | "payload_too_large" | "unsupported_media_type" | "expectation_failed" | "invalid_request" | "charge_not_of_plan_type" | "idempotency_key_reused" | "meter_archived" | "rate_limited" | "headers_too_large" | "internal_error" | "unavailable" | "shutting_down";
            request_id: string;
            errors?: {
                path: string;
                message: string;
            }[];
            /**
             * Format: uuid
             * @description The id of what is there already: the event that was accepted, the payment, what has the external_id, the correction of an event, or the erasure or move that is under way.
             */
            id?: string;
            /** @description What paid the invoice that is paid already. */
            reference?: string | null;
            /** @description What is due of the invoice. */
            amount_due?: string;
            /**
             * @description Of an attempt that cannot be done now. not_accepted: nothing of it was kept. unknown: it may have been done; sent again with its key it is done once.
             * @enum {string}
             */
            outcome?: "not_accepted" | "unknown";
        };
        Recomputation: {
            /** Format: uuid */
            invoice_id: string;
            invoice_number: string;
            /** @enum {string} */
            from: "rollups" | "events";
            identical: boolean;
            stored: {
                lines: components["schemas"]["InvoiceLine"][];
                /** @description A decimal with exactly the digits of the currency. */
                subtotal: string;
                /** @description A decimal with exactly the digits of the currency. */
                total: string;
            };
            recomputed: {
                lines: components["schemas"]["InvoiceLine"][];
                /** @description A decimal with exactly the digits of the currency. */
                subtotal: string;
                /** @description A decimal with exactly the digits of the currency. */
                total: string;
            };
            /** @description How many lines there are, where these are not all. */
            lines_total?: number;
        };
        ServiceAccount: {
            /** Format: uuid */
            id: string;
            name: string;
            /**
             * @description A viewer reads. A biller also changes customers, subscriptions, credits, invoices, webhooks and alerts, and voids and amends events. An admin does everything that an admin who is signed in does, but nothing to people, their passwords and their sessions.
             * @enum {string}
             */
            role: "viewer" | "biller" | "admin";
            token_count: number;
            /** @description When one of its tokens was used last, to the minute and known up to two minutes later. Null: not yet. */
            last_used_at: string | null;
            /** Format: date-time */
            created_at: string;
        };
        ServiceToken: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description The last four characters of the token. */
            last4: string;
            /** @description From when on it is refused. Null: until it is deleted, it is not. */
            expires_at: string | null;
            /** @description When it was used last, to the minute and known up to two minutes later. Null: not yet. */
            last_used_at: string | null;
            /** Format: date-time */
            created_at: string;
        };
        Session: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description To the minute.
             */
            last_used_at: string;
            address: string | null;
            user_agent: string | null;
            /** @description Whether it is the session that asks. */
            is_current: boolean;
        };
        SignInOptions: {
            /** @description Whether a new organization can be made now. */
            sign_up: boolean;
            /** @description Whether a link for a new password can be mailed. Else an admin makes one. */
            password_mail: boolean;
        };
        Subscription: {
            /** Format: uuid */
            id: string;
            external_id: string | null;
            /** Format: uuid */
            customer_id: string;
            customer_external_id: string;
            /** Format: uuid */
            plan_id: string;
            plan_name: string;
            /** @description What it goes over to at the end of the period. */
            pending_plan_id: string | null;
            /** @enum {string} */
            status: "SCHEDULED" | "TRIAL" | "ACTIVE" | "PAST_DUE" | "CANCELED";
            /** Format: date-time */
            start_date: string;
            trial_end_date: string | null;
            time_zone: string;
            currency: string;
            /** @enum {string} */
            billing_interval: "day" | "week" | "month" | "year";
            /** @enum {string} */
            billing_alignment: "anniversary" | "calendar";
            /** @description Counts periods from 0; null before the first one. */
            cycle: number | null;
            /** @description How many periods have begun that are not opened yet. Of a long past the first ones are opened with the request, and the run opens the others; until then it cannot be changed or canceled. */
            periods_to_open: number;
            /**
             * Format: date-time
             * @description In a trial, and before one, its own; before any other start, that.
             */
            current_period_start: string;
            /** Format: date-time */
            current_period_end: string;
            cancel_at_period_end: boolean;
            cancel_reason: string | null;
            /** @description When its end was asked for. */
            canceled_at: string | null;
            /** @description When it ends or ended. */
            ended_at: string | null;
            /** Format: date-time */
            created_at: string;
        };
        SubscriptionPreview: {
            /** @enum {string} */
            status: "SCHEDULED" | "TRIAL" | "ACTIVE" | "PAST_DUE" | "CANCELED";
            time_zone: string;
            /** @description How many periods have begun, the open one among them. */
            periods: number;
            /** @description How many invoices are made of them, each as a draft at first. */
            invoices: number;
            /** @description Of the first of these invoices; null where there is none. One of what is due in advance at the start begins and ends there. */
            first_period_start: string | null;
            /** @description Of the same: the first instant after it. */
            first_period_end: string | null;
            last_period_end: string | null;
            /** @description When they are finalized. Null where there is none, and where the billing settings leave it to people. */
            finalizes_at: string | null;
            /** Format: date-time */
            current_period_start: string;
            /** Format: date-time */
            current_period_end: string;
        };
        SubscriptionWithEntitlements: {
            /** Format: uuid */
            id: string;
            external_id: string | null;
            /** Format: uuid */
            customer_id: string;
            customer_external_id: string;
            /** Format: uuid */
            plan_id: string;
            plan_name: string;
            /** @description What it goes over to at the end of the period. */
            pending_plan_id: string | null;
            /** @enum {string} */
            status: "SCHEDULED" | "TRIAL" | "ACTIVE" | "PAST_DUE" | "CANCELED";
            /** Format: date-time */
            start_date: string;
            trial_end_date: string | null;
            time_zone: string;
            currency: string;
            /** @enum {string} */
            billing_interval: "day" | "week" | "month" | "year";
            /** @enum {string} */
            billing_alignment: "anniversary" | "calendar";
            /** @description Counts periods from 0; null before the first one. */
            cycle: number | null;
            /** @description How many periods have begun that are not opened yet. Of a long past the first ones are opened with the request, and the run opens the others; until then it cannot be changed or canceled. */
            periods_to_open: number;
            /**
             * Format: date-time
             * @description In a trial, and before one, its own; before any other start, that.
             */
            current_period_start: string;
            /** Format: date-time */
            current_period_end: string;
            cancel_at_period_end: boolean;
            cancel_reason: string | null;
            /** @description When its end was asked for. */
            canceled_at: string | null;
            /** @description When it ends or ended. */
            ended_at: string | null;
            /** Format: date-time */
            created_at: string;
            entitlements: components["schemas"]["Entitlement"][];
        };
        System: {
            /** @enum {string} */
            postgres: "ok" | "away";
            /** @enum {string} */
            redis: "ok" | "away";
            /**
             * @description Which way events take: through Redis, or directly to Postgres, while Redis is away, full or too slow.
             * @enum {string}
             */
            way: "redis" | "direct";
            worker: {
                /** @description When a worker was last at work: some seconds ago at most while one runs. Null: not known. */
                last_seen_at: string | null;
            };
            /** @description Accepted events that are not recorded yet. Null while Redis is away. */
            waiting: {
                /** @description How many, about: exactly where they are few. */
                events: number;
                /** @description How long the oldest may wait already. Null: none waits. */
                oldest_seconds: number | null;
            } | null;
            /** @description What npm run reconcile has found of your organization last. Null: it was not run yet. */
            reconcile: {
                /** Format: date-time */
                finished_at: string;
                is_equal: boolean;
                /** @description Those that were found of your organization. */
                problems: number;
            } | null;
            version: string;
            /** @description The commit of its build; `unknown` where that did not say. */
            revision: string;
        };
        TouchedInvoice: {
            /**
             * @description LATE_USAGE: it is finalized and stays as it is, and the next one of the subscription has a LATE_USAGE line for the difference. AT_ONCE: it is a draft, or a period that is not billed yet, and shows the change at once.
             * @enum {string}
             */
            effect: "LATE_USAGE" | "AT_ONCE";
            /** @description Null where there is no invoice of the period yet. */
            invoice_id: string | null;
            invoice_number: string | null;
            status: ("DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE") | null;
            /** Format: uuid */
            subscription_id: string;
            customer_external_id: string;
            /** Format: date-time */
            period_start: string;
            /** Format: date-time */
            period_end: string;
            /** @description How many of the events that would be void are of its periods. */
            events: number;
            /** @description How many of the new ones are. */
            new_events: number;
        };
        TriedCharge: {
            /** @description What the lines of invoices are called. */
            display_name?: string;
            /** @constant */
            type: "FIXED";
            /**
             * @default in_advance
             * @enum {string}
             */
            timing?: "in_advance" | "in_arrears";
            /** @description The price of a period, of a unit or of a package. */
            unit_price: number | string;
        } | ({
            /** @description What the lines of invoices are called. */
            display_name?: string;
            /** Format: uuid */
            meter_id?: string;
            /** @constant */
            type: "USAGE";
            /**
             * @default per_unit
             * @constant
             */
            model?: "per_unit";
            /** @description The price of a period, of a unit or of a package. */
            unit_price: number | string;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            /** @description What the lines of invoices are called. */
            display_name?: string;
            /** Format: uuid */
            meter_id?: string;
            /** @constant */
            type: "USAGE";
            /** @constant */
            model: "graduated";
            /** @description In rising order of up_to; the last has no end. */
            tiers: {
                up_to: (number | string) | null;
                unit_price: number | string;
                /** @description Due once a part of a unit falls into the tier. */
                flat_fee?: number | string;
            }[];
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            /** @description What the lines of invoices are called. */
            display_name?: string;
            /** Format: uuid */
            meter_id?: string;
            /** @constant */
            type: "USAGE";
            /** @constant */
            model: "volume";
            /** @description In rising order of up_to; the last has no end. */
            tiers: {
                up_to: (number | string) | null;
                unit_price: number | string;
                /** @description Due once a part of a unit falls into the tier. */
                flat_fee?: number | string;
            }[];
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            /** @description What the lines of invoices are called. */
            display_name?: string;
            /** Format: uuid */
            meter_id?: string;
            /** @constant */
            type: "USAGE";
            /** @constant */
            model: "package";
            /** @description The price of a period, of a unit or of a package. */
            unit_price: number | string;
            /** @description A package that was begun is paid. */
            package_size: number | string;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            /** @description What the lines of invoices are called. */
            display_name?: string;
            /** Format: uuid */
            meter_id?: string;
            /** @constant */
            type: "USAGE";
            /** @constant */
            model: "percentage";
            /** @description Percent of the quantity. */
            rate: number | string;
            fixed_amount?: (number | string) | null;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        });
        UnbilledUsage: {
            /** Format: uuid */
            meter_id: string;
            meter_name: string;
            /**
             * @description price_ended: the charge of the customer’s plan had ended when the period began, and no other was there. not_in_plan: the plan has no charge of the meter, or got its first one within the period. after_end: the subscription has ended, or was canceled before it began. no_subscription: the customer never had one.
             * @enum {string}
             */
            reason: "price_ended" | "not_in_plan" | "after_end" | "no_subscription";
            events: number;
            /** @description How many customers they are of, on the day with the most. */
            customers: number;
            /**
             * Format: date
             * @description The first day of the month with such usage, in UTC.
             */
            since: string;
            /**
             * Format: date
             * @description The last one.
             */
            until: string;
        };
        UsageEvent: {
            /** @description The unique token of the meter. An event needs either this or lookup_key. */
            meter_token?: string;
            /** @description The lookup_key of the feature behind which the meter stands, in place of meter_token. */
            lookup_key?: string;
            /** @description Your own identifier of the customer. No customer record is needed. */
            customer_external_id: string;
            /** @description A JSON number greater than 0. It is stored as the decimal that was sent. */
            quantity: number;
            /**
             * Format: date-time
             * @description ISO 8601 with an offset. When it is missing, the time of receipt.
             */
            timestamp?: string;
            /** @description Send a request again with the same key and it is counted once. */
            idempotency_key?: string;
            /** @description Free key/value data: at most 50 keys, 8 KiB and 5 levels. A UNIQUE_COUNT meter counts user_id. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        UsageMove: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            status: "RUNNING" | "DONE";
            /** @description How many events have the new external id by now. */
            events: number;
            /** Format: date-time */
            created_at: string;
            finished_at: string | null;
            from_external_id: string;
            to_external_id: string;
        };
        User: {
            /** Format: uuid */
            id: string;
            email: string;
            /**
             * @description An admin does everything; a viewer reads everything and changes nothing.
             * @enum {string}
             */
            role: "admin" | "viewer";
            /** Format: date-time */
            created_at: string;
            /** @description To the minute. Null: not since this is written down. */
            last_seen_at: string | null;
        };
        WebhookAttempt: {
            /** Format: date-time */
            at: string;
            /** @description Of the answer. Null: there was none. */
            status: number | null;
            ms: number;
            /** @description Why there was none. */
            error: string | null;
            /** @description The first KiB of the answer. */
            answer: string | null;
        };
        WebhookDelivery: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            endpoint_id: string;
            /** @enum {string} */
            type: "invoice.created" | "invoice.finalized" | "invoice.credited" | "invoice.payment_recorded" | "invoice.paid" | "invoice.payment_taken_back" | "invoice.voided" | "invoice.uncollectible" | "invoice.past_due" | "subscription.created" | "subscription.activated" | "subscription.changed" | "subscription.past_due" | "subscription.canceled" | "credit.granted" | "credit.voided" | "usage.unpriced" | "usage.threshold_reached" | "webhook_endpoint.disabled" | "webhook.test";
            /** @description Of the event in the feed. Null: a test. */
            sequence: number | null;
            /** @enum {string} */
            status: "PENDING" | "DELIVERED" | "FAILED";
            /** @description All that were made. */
            attempt_count: number;
            /** @description The last 20, oldest first. */
            attempts: components["schemas"]["WebhookAttempt"][];
            /** @description Null: when it is its turn, or never again. */
            next_attempt_at: string | null;
            delivered_at: string | null;
            /** Format: date-time */
            created_at: string;
        };
        WebhookEndpoint: {
            /** Format: uuid */
            id: string;
            url: string;
            /** @description Null: all. */
            event_types: ("invoice.created" | "invoice.finalized" | "invoice.credited" | "invoice.payment_recorded" | "invoice.paid" | "invoice.payment_taken_back" | "invoice.voided" | "invoice.uncollectible" | "invoice.past_due" | "subscription.created" | "subscription.activated" | "subscription.changed" | "subscription.past_due" | "subscription.canceled" | "credit.granted" | "credit.voided" | "usage.unpriced" | "usage.threshold_reached" | "webhook_endpoint.disabled")[] | null;
            /** @enum {string} */
            status: "ACTIVE" | "DISABLED";
            /** @description Why Weir turned it off: 3 days without a success, or an answer of 410. */
            disabled_reason: ("FAILING" | "GONE") | null;
            /** @description How far it has come in the feed. */
            last_sequence: number;
            /** @description What is still to be sent again of a replay. */
            replay: {
                next_sequence: number;
                last_sequence: number;
            } | null;
            /** @description Since when it has been tried without a success; tests that fail do not count. Null: the last attempt did well. */
            failing_since: string | null;
            /** @description Until when the secret before signs as well. */
            previous_secret_until: string | null;
            /** Format: date-time */
            created_at: string;
        };
        WebhookEndpointWithSecret: {
            /** Format: uuid */
            id: string;
            url: string;
            /** @description Null: all. */
            event_types: ("invoice.created" | "invoice.finalized" | "invoice.credited" | "invoice.payment_recorded" | "invoice.paid" | "invoice.payment_taken_back" | "invoice.voided" | "invoice.uncollectible" | "invoice.past_due" | "subscription.created" | "subscription.activated" | "subscription.changed" | "subscription.past_due" | "subscription.canceled" | "credit.granted" | "credit.voided" | "usage.unpriced" | "usage.threshold_reached" | "webhook_endpoint.disabled")[] | null;
            /** @enum {string} */
            status: "ACTIVE" | "DISABLED";
            /** @description Why Weir turned it off: 3 days without a success, or an answer of 410. */
            disabled_reason: ("FAILING" | "GONE") | null;
            /** @description How far it has come in the feed. */
            last_sequence: number;
            /** @description What is still to be sent again of a replay. */
            replay: {
                next_sequence: number;
                last_sequence: number;
            } | null;
            /** @description Since when it has been tried without a success; tests that fail do not count. Null: the last attempt did well. */
            failing_since: string | null;
            /** @description Until when the secret before signs as well. */
            previous_secret_until: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description What signs. It is shown here and never again. Null where the answer is repeated for its Idempotency-Key, since it is kept nowhere: rotate, or make another one then. */
            secret: string | null;
        };
        WidgetBalance: {
            /** @description Seconds until the token ends: ask the app for a new one before. */
            token_expires_in: number;
            data: {
                currency: string;
                /** @description What is due of all open invoices. */
                amount_due: string;
                /** @description The part of it whose due date has ended. */
                past_due: string;
                /** @description What is left of credits: the next invoices draw it. */
                credit: string;
            }[];
        };
        WidgetBillingPeriod: {
            customer_external_id: string;
            /** @description That of the newest subscription; null: the customer has none. */
            billing_period: {
                /** Format: date-time */
                period_start: string;
                /** Format: date-time */
                period_end: string;
                time_zone: string;
            } | null;
            data: components["schemas"]["WidgetLimit"][];
        };
        WidgetEvent: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            timestamp: string;
            quantity: string;
            /**
             * @description A voided one was taken out after the invoice.
             * @enum {string}
             */
            status: "recorded" | "voided";
        };
        WidgetInvoice: {
            /** Format: uuid */
            id: string;
            invoice_number: string;
            /** @enum {string} */
            status: "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
            currency: string;
            issue_date: string;
            due_date: string | null;
            /** Format: date-time */
            period_start: string;
            /** Format: date-time */
            period_end: string;
            /** @description A decimal with exactly the digits of the currency. */
            subtotal: string;
            /** @description A decimal with exactly the digits of the currency. */
            tax: string;
            /** @description A decimal with exactly the digits of the currency. */
            total: string;
            /** @description A decimal with exactly the digits of the currency. */
            credits_applied: string;
            /** @description A decimal with exactly the digits of the currency. */
            amount_paid: string;
            /** @description A decimal with exactly the digits of the currency. */
            amount_due: string;
            /** @description Whether it is open and its due date has ended. */
            is_past_due: boolean;
        };
        WidgetInvoiceLine: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "FIXED" | "USAGE" | "LATE_USAGE" | "ADJUSTMENT";
            description: string;
            /** @description Its price. Null for what was added by hand. */
            charge: components["schemas"]["ChargeTerms"] | null;
            period_start: string | null;
            period_end: string | null;
            /** @description Local dates in force, of those of the whole period; null where it is whole. */
            days: string | null;
            quantity: string | null;
            /** @description What invoices before had of it already; late usage is billed less that. */
            billed_before: string;
            /** @description A decimal with exactly the digits of the currency. */
            amount: string;
            /** @description What the line would have taken away more, had it been asked for: of void invoices nothing comes back. Null where nothing was cut off. */
            waived: string | null;
            /** @description Whether the events behind it can be read. */
            has_events: boolean;
        };
        WidgetInvoiceWithLines: {
            /** Format: uuid */
            id: string;
            invoice_number: string;
            /** @enum {string} */
            status: "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
            currency: string;
            issue_date: string;
            due_date: string | null;
            /** Format: date-time */
            period_start: string;
            /** Format: date-time */
            period_end: string;
            /** @description A decimal with exactly the digits of the currency. */
            subtotal: string;
            /** @description A decimal with exactly the digits of the currency. */
            tax: string;
            /** @description A decimal with exactly the digits of the currency. */
            total: string;
            /** @description A decimal with exactly the digits of the currency. */
            credits_applied: string;
            /** @description A decimal with exactly the digits of the currency. */
            amount_paid: string;
            /** @description A decimal with exactly the digits of the currency. */
            amount_due: string;
            /** @description Whether it is open and its due date has ended. */
            is_past_due: boolean;
            /** @description The zone that its periods are days of. */
            time_zone: string;
            /** @description Those that stand. */
            payments: {
                /** @description A decimal with exactly the digits of the currency. */
                amount: string;
                /** Format: date-time */
                paid_at: string;
            }[];
            /** @description As many as GET /invoices/{id} has. */
            lines: components["schemas"]["WidgetInvoiceLine"][];
            /** @description How many lines there are, where these are not all. */
            lines_total?: number;
            /** @description The cursor of the others in GET /widget/invoices/{id}/lines, where these are not all. */
            lines_next_cursor?: string;
        };
        WidgetLimit: {
            /** Format: uuid */
            meter_id: string;
            name: string;
            /** @enum {string} */
            aggregation_type: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
            unit: string | null;
            /** @description Null: there is none. */
            limit: string | null;
            /** @description What is recorded in the window of the limit. */
            usage: string;
            remaining: string | null;
            overage: string | null;
            /** @description Whether more than the limit may be used. */
            is_soft_limit: boolean;
            /**
             * Format: date-time
             * @description Since when usage counts towards the limit.
             */
            period_start: string;
            /** @description When it begins at 0 again; null: never. */
            resets_at: string | null;
        };
        WidgetPlan: {
            /** @description That of the newest subscription, in a trial the one that bills after it; null: the customer has none. */
            plan: {
                name: string;
                /** @enum {string} */
                billing_interval: "day" | "week" | "month" | "year";
                currency: string;
                /** @description What the open period is billed by; in a trial, what the period after it is. */
                charges: components["schemas"]["ChargeTerms"][];
            } | null;
        };
        WidgetSettings: {
            /** @description In the order in which they are shown. */
            meter_ids: string[] | null;
        };
        WidgetToken: {
            /** @description The secret. Give it to the browser of this one customer. Null where the answer is repeated for its Idempotency-Key, since it is kept nowhere: make another one then. */
            token: string | null;
            /**
             * Format: date-time
             * @description One hour after it was made.
             */
            expires_at: string;
        };
        WidgetUsage: {
            customer_external_id: string;
            /** @description Seconds until the token ends: ask the app for a new one before. */
            token_expires_in: number;
            /** Format: date-time */
            period_start: string;
            /**
             * Format: date-time
             * @description The first instant that does not count any more.
             */
            period_end: string;
            data: {
                /** Format: uuid */
                meter_id: string;
                name: string;
                /** @enum {string} */
                aggregation_type: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
                unit: string | null;
                /** @description An exact decimal. Null where there is no largest, smallest, mean or last value: nothing was counted. */
                total_usage: string | null;
                event_count: number;
            }[];
        };
    };
    responses: {
        /** @description A refusal */
        Refusal: {
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getHealth: {
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        /** @enum {string} */
                        status: "ok";
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getReadiness: {
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        /** @enum {string} */
                        status: "ok";
                        /** @enum {string} */
                        redis: "ok" | "away";
                        /** @enum {string} */
                        postgres: "ok" | "away";
                        /**
                         * @description Which way events take: through Redis, or directly to Postgres, while Redis is away, full or too slow.
                         * @enum {string}
                         */
                        way: "redis" | "direct";
                        /** @description Null: Postgres has not been seen since the start. */
                        schema: {
                            /** @description The number of the oldest schema that it runs on. It runs on newer ones too. */
                            needs: string;
                            /** @description The one that the database had when it was looked at. */
                            found: string | null;
                        } | null;
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getVersion: {
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        version: string;
                        /** @description The commit of its build; `unknown` where that did not say. */
                        revision: string;
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getSystem: {
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["System"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getSignInOptions: {
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["SignInOptions"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    signUp: {
        requestBody: {
            content: {
                "application/json": {
                    /** Format: email */
                    email: string;
                    /** Format: password */
                    password: string;
                    organization_name: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    signIn: {
        requestBody: {
            content: {
                "application/json": {
                    email: string;
                    /** Format: password */
                    password: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    signOut: {
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    getAccount: {
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                limit?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Session"][];
                        meta: components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    deleteOtherSessions: {
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    deleteSession: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    changePassword: {
        requestBody: {
            content: {
                "application/json": {
                    /** Format: password */
                    current_password: string;
                    /** Format: password */
                    new_password: string;
                };
            };
        };
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    createPasswordReset: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["PasswordReset"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    resetPassword: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description What stands behind # in the link. */
                    token: string;
                    /** Format: password */
                    new_password: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    requestPasswordReset: {
        requestBody: {
            content: {
                "application/json": {
                    email: string;
                };
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                content: {
                    "application/json": {
                        /** @enum {string} */
                        status: "accepted";
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listInvitations: {
        parameters: {
            query?: {
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Invitation"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    createInvitation: {
        requestBody: {
            content: {
                "application/json": {
                    /** Format: email */
                    email: string;
                    /**
                     * @description An admin does everything; a viewer reads everything and changes nothing.
                     * @enum {string}
                     */
                    role: "admin" | "viewer";
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["CreatedInvitation"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    deleteInvitation: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    getInvitation: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description What stands behind # in the link. */
                    token: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        email: string;
                        organization_name: string;
                        /**
                         * @description An admin does everything; a viewer reads everything and changes nothing.
                         * @enum {string}
                         */
                        role: "admin" | "viewer";
                        /** Format: date-time */
                        expires_at: string;
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    acceptInvitation: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description What stands behind # in the link. */
                    token: string;
                    /** Format: password */
                    password: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getOrganization: {
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Organization"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    updateOrganization: {
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Organization"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["User"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getUser: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    deleteUser: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    updateUser: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description An admin does everything; a viewer reads everything and changes nothing.
                     * @enum {string}
                     */
                    role: "admin" | "viewer";
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listAuditEntries: {
        parameters: {
            query?: {
                user_id?: string;
                actor_id?: string;
                action?: string;
                resource_id?: string;
                /** @description From this instant on. A date is one in the time zone of the organization. */
                start_date?: string;
                /** @description Until before this instant; a date includes that day. A date is one in the time zone of the organization. */
                end_date?: string;
                cursor?: string;
                limit?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["AuditEntry"][];
                        meta: components["schemas"]["CursorMeta"];
                        /** @description Older entries are gone. Null: none ever goes. */
                        kept_days: number | null;
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["ApiKey"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    createApiKey: {
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    scopes: ("usage.write" | "usage.read")[];
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    deleteApiKey: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    listServiceAccounts: {
        parameters: {
            query?: {
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["ServiceAccount"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    createServiceAccount: {
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    /**
                     * @description A viewer reads. A biller also changes customers, subscriptions, credits, invoices, webhooks and alerts, and voids and amends events. An admin does everything that an admin who is signed in does, but nothing to people, their passwords and their sessions.
                     * @enum {string}
                     */
                    role: "viewer" | "biller" | "admin";
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["ServiceAccount"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getServiceAccount: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["ServiceAccount"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    deleteServiceAccount: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    updateServiceAccount: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    /**
                     * @description A viewer reads. A biller also changes customers, subscriptions, credits, invoices, webhooks and alerts, and voids and amends events. An admin does everything that an admin who is signed in does, but nothing to people, their passwords and their sessions.
                     * @enum {string}
                     */
                    role?: "viewer" | "biller" | "admin";
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["ServiceAccount"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listServiceTokens: {
        parameters: {
            query?: {
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["ServiceToken"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    createServiceToken: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    /** @default null */
                    expires_at?: string | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["CreatedServiceToken"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    deleteServiceToken: {
        parameters: {
            path: {
                id: string;
                token_id: string;
            };
        };
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    listFeatures: {
        parameters: {
            query?: {
                /** @description A part of the name or of the lookup_key. In whatever case. */
                search?: string;
                type?: "meter" | "switch" | "custom";
                aggregation_type?: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
                /** @description In which order; with a minus the other way round. created_at by default. */
                sort?: "created_at" | "-created_at" | "name" | "-name";
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Feature"][];
                        meta?: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    createFeature: {
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    lookup_key: string;
                    /** @enum {string} */
                    type: "meter";
                    /**
                     * @description How events become a number; it cannot be changed later.
                     * @enum {string}
                     */
                    aggregation_type: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
                    unit?: string | null;
                    /**
                     * @description Keys of the metadata of events, by whose values usage can be grouped and filtered.
                     * @default []
                     */
                    metadata_keys?: string[];
                } | {
                    name: string;
                    lookup_key: string;
                    /** @enum {string} */
                    type: "switch" | "custom";
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["Feature"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getFeature: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Feature"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    deleteFeature: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    updateFeature: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    lookup_key?: string;
                    unit?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Feature"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listMeters: {
        parameters: {
            query?: {
                /** @description A part of the name or of the meter_token. In whatever case. */
                search?: string;
                status?: "ACTIVE" | "ARCHIVED";
                aggregation_type?: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
                /** @description In which order; with a minus the other way round. -created_at by default. */
                sort?: "created_at" | "-created_at" | "name" | "-name";
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Meter"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getMeter: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Meter"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    updateMeter: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    unit?: string | null;
                    /**
                     * @description An archived meter takes no new events.
                     * @enum {string}
                     */
                    status?: "ACTIVE" | "ARCHIVED";
                    /** @description Keys of the metadata of events, by whose values usage can be grouped and filtered. */
                    metadata_keys?: string[];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Meter"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listPlans: {
        parameters: {
            query?: {
                /** @description In which order; with a minus the other way round. -created_at by default. */
                sort?: "created_at" | "-created_at" | "name" | "-name";
                /** @description A part of the name or the lookup_id. In whatever case. */
                search?: string;
                type?: "FIXED" | "USAGE" | "HYBRID";
                billing_interval?: "day" | "week" | "month" | "year";
                /** @description ISO 4217, in upper case. */
                currency?: string;
                is_active?: "true" | "false";
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Plan"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    createPlan: {
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    lookup_id: string;
                    /** @enum {string} */
                    type: "FIXED" | "USAGE" | "HYBRID";
                    /** @enum {string} */
                    billing_interval: "day" | "week" | "month" | "year";
                    /** @description ISO 4217, in upper case. */
                    currency: string;
                    /**
                     * @description Number of free trial days; 0 means no trial.
                     * @default 0
                     */
                    trial_days?: number;
                    /** @default null */
                    description?: string | null;
                    /**
                     * @description Whether the plan accepts new subscriptions.
                     * @default true
                     */
                    is_active?: boolean;
                    /** @description What it costs from the beginning, each as for createCharge. */
                    charges?: components["schemas"]["FirstCharge"][];
                    /** @description What it includes from the beginning. */
                    features?: {
                        /** Format: uuid */
                        feature_id: string;
                        /** @default true */
                        is_enabled?: boolean;
                        usage_limit?: (number | string) | null;
                        /**
                         * @description Of a feature of type meter: when the usage begins at 0 again; null: never.
                         * @default null
                         */
                        usage_reset_period?: ("hour" | "day" | "week" | "month" | "year") | null;
                        /**
                         * @description Whether usage may go on past the limit.
                         * @default false
                         */
                        is_soft_limit?: boolean;
                        /**
                         * @description The value of a feature of type custom.
                         * @default null
                         */
                        static_value?: string | null;
                    }[];
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getPlan: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["PlanWithFeatures"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    deletePlan: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    updatePlan: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    lookup_id?: string;
                    /** @enum {string} */
                    type?: "FIXED" | "USAGE" | "HYBRID";
                    /** @enum {string} */
                    billing_interval?: "day" | "week" | "month" | "year";
                    /** @description ISO 4217, in upper case. */
                    currency?: string;
                    /** @description Number of free trial days; 0 means no trial. */
                    trial_days?: number;
                    description?: string | null;
                    /** @description Whether the plan accepts new subscriptions. */
                    is_active?: boolean;
                    /** @description Charges that are renamed or ended, each as for updateCharge. */
                    update_charges?: {
                        /** Format: uuid */
                        id: string;
                        display_name?: string;
                        /**
                         * @description INACTIVE ends the charge, for good: from its next period on no subscription is billed by it. One that has not begun is taken back, and the charge whose place it would have taken goes on.
                         * @enum {string}
                         */
                        status?: "ACTIVE" | "INACTIVE";
                    }[];
                    /** @description Charges that are added afterwards, each as for createCharge. */
                    add_charges?: components["schemas"]["NewCharge"][];
                    /** @description Features that are taken out of the plan. */
                    remove_features?: string[];
                    /** @description Features that are put into the plan afterwards. What it says of one that it has is as sent from then on. */
                    put_features?: {
                        /** Format: uuid */
                        feature_id: string;
                        /** @default true */
                        is_enabled?: boolean;
                        usage_limit?: (number | string) | null;
                        /**
                         * @description Of a feature of type meter: when the usage begins at 0 again; null: never.
                         * @default null
                         */
                        usage_reset_period?: ("hour" | "day" | "week" | "month" | "year") | null;
                        /**
                         * @description Whether usage may go on past the limit.
                         * @default false
                         */
                        is_soft_limit?: boolean;
                        /**
                         * @description The value of a feature of type custom.
                         * @default null
                         */
                        static_value?: string | null;
                    }[];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    addPlanFeature: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** Format: uuid */
                    feature_id: string;
                    /** @default true */
                    is_enabled?: boolean;
                    usage_limit?: (number | string) | null;
                    /**
                     * @description Of a feature of type meter: when the usage begins at 0 again; null: never.
                     * @default null
                     */
                    usage_reset_period?: ("hour" | "day" | "week" | "month" | "year") | null;
                    /**
                     * @description Whether usage may go on past the limit.
                     * @default false
                     */
                    is_soft_limit?: boolean;
                    /**
                     * @description The value of a feature of type custom.
                     * @default null
                     */
                    static_value?: string | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["PlanFeature"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    removePlanFeature: {
        parameters: {
            path: {
                id: string;
                feature_id: string;
            };
        };
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    updatePlanFeature: {
        parameters: {
            path: {
                id: string;
                feature_id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    is_enabled?: boolean;
                    usage_limit?: (number | string) | null;
                    /** @description Of a feature of type meter: when the usage begins at 0 again; null: never. */
                    usage_reset_period?: ("hour" | "day" | "week" | "month" | "year") | null;
                    /** @description Whether usage may go on past the limit. */
                    is_soft_limit?: boolean;
                    /** @description The value of a feature of type custom. */
                    static_value?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["PlanFeature"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listCustomers: {
        parameters: {
            query?: {
                /** @description A part of the external_id, the name or the email. In whatever case. */
                search?: string;
                /** @description The external_id itself, to the letter. */
                external_id?: string;
                /** @description In which order; with a minus the other way round. -created_at by default. */
                sort?: "created_at" | "-created_at" | "name" | "-name";
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Customer"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    createCustomer: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description Your own identifier of the customer. Usage stays with the external_id that it was tracked with. */
                    external_id?: string;
                    name?: string | null;
                    email?: string | null;
                    phone?: string | null;
                    /** @description Of the buyer on invoices. Null: the name. */
                    legal_name?: string | null;
                    /** @description Of the buyer on invoices: a VAT id, or what a country has in its place. */
                    tax_id?: string | null;
                    billing_address_line1?: string | null;
                    billing_address_line2?: string | null;
                    billing_address_city?: string | null;
                    billing_address_state?: string | null;
                    /** @description Free text. */
                    billing_address_country?: string | null;
                    /** @description Of the buyer on invoices: two letters of ISO 3166-1. Null: that of billing_address_country, where it is such a code. */
                    billing_country_code?: string | null;
                    billing_address_postal_code?: string | null;
                    /** @description Free key/value data: at most 50 keys, 8 KiB and 5 levels. A change replaces all of it. A number that a double rounds is sent as text. */
                    metadata?: {
                        [key: string]: unknown;
                    };
                    /** @description A time zone of the IANA database, in which subscriptions that are made from then on are billed. Null: that of the organization. */
                    time_zone?: string | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["Customer"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getCustomer: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Customer"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    deleteCustomer: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    updateCustomer: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Your own identifier of the customer. Usage stays with the external_id that it was tracked with. */
                    external_id?: string;
                    name?: string | null;
                    email?: string | null;
                    phone?: string | null;
                    /** @description Of the buyer on invoices. Null: the name. */
                    legal_name?: string | null;
                    /** @description Of the buyer on invoices: a VAT id, or what a country has in its place. */
                    tax_id?: string | null;
                    billing_address_line1?: string | null;
                    billing_address_line2?: string | null;
                    billing_address_city?: string | null;
                    billing_address_state?: string | null;
                    /** @description Free text. */
                    billing_address_country?: string | null;
                    /** @description Of the buyer on invoices: two letters of ISO 3166-1. Null: that of billing_address_country, where it is such a code. */
                    billing_country_code?: string | null;
                    billing_address_postal_code?: string | null;
                    /** @description Free key/value data: at most 50 keys, 8 KiB and 5 levels. A change replaces all of it. A number that a double rounds is sent as text. */
                    metadata?: {
                        [key: string]: unknown;
                    };
                    /** @description A time zone of the IANA database, in which subscriptions that are made from then on are billed. Null: that of the organization. */
                    time_zone?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Customer"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listCharges: {
        parameters: {
            query?: {
                status?: "ACTIVE" | "INACTIVE";
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Charge"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    createCharge: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCharge"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["Charge"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    updateCharge: {
        parameters: {
            path: {
                id: string;
                charge_id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    display_name?: string;
                    /**
                     * @description INACTIVE ends the charge, for good: from its next period on no subscription is billed by it. One that has not begun is taken back, and the charge whose place it would have taken goes on.
                     * @enum {string}
                     */
                    status?: "ACTIVE" | "INACTIVE";
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Charge"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    evaluateCharge: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description ISO 4217, in upper case. */
                    currency: string;
                    charge: components["schemas"]["TriedCharge"];
                    /** @description What the meter reads. Default: 0. */
                    quantity?: number | string;
                    /**
                     * @description How many events the quantity is of.
                     * @default 0
                     */
                    event_count?: number;
                    /** @description For how many dates of its period the charge is in force. */
                    days_in_force?: number;
                    days_in_period?: number;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        /** @description Before the rounding: a decimal, or n/d where it has no end. */
                        exact_amount: string;
                        amount: string;
                        /** @description By tier, or the number of packages, before minimum and maximum; else null. */
                        detail: ({
                            up_to: string | null;
                            quantity: string;
                            exact_amount: string;
                        }[] | {
                            packages: string;
                        }) | null;
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getBillingSettings: {
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["BillingSettings"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    updateBillingSettings: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description A time zone of the IANA database. */
                    time_zone?: string;
                    /** @description How long an invoice stays a draft after its boundary, for events that come late. */
                    invoice_grace_hours?: number;
                    /** @description From the issue of an invoice until it is due. */
                    payment_terms_days?: number;
                    /** @description What the numbers of invoices begin with, as in INV-2026-000042. */
                    invoice_prefix?: string;
                    /** @description Who issues invoices, in the lines that stand on them: name, address, tax number. Null: the name of the organization. */
                    invoice_issuer?: string | null;
                    /** @description The same field by field, for electronic invoices: copied when an invoice is finalized. A change replaces all of it. */
                    seller?: {
                        legal_name: string;
                        /**
                         * @description A VAT id, or what a country has in its place.
                         * @default null
                         */
                        tax_id?: string | null;
                        /** @default null */
                        address_line1?: string | null;
                        /** @default null */
                        address_line2?: string | null;
                        /** @default null */
                        city?: string | null;
                        /** @default null */
                        state?: string | null;
                        /** @default null */
                        postal_code?: string | null;
                        /** @default null */
                        country?: string | null;
                    } | null;
                    /**
                     * @description Manual: a draft stays one until somebody finalizes it with POST /invoices/{id}/finalize. It holds for drafts that are there as well; back to automatic, those whose grace is over are finalized at once.
                     * @enum {string}
                     */
                    finalize?: "automatic" | "manual";
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["BillingSettings"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    previewSubscription: {
        requestBody: {
            content: {
                "application/json": {
                    /** Format: uuid */
                    customer_id?: string;
                    /** @description In place of customer_id. */
                    customer_external_id?: string;
                    /** Format: uuid */
                    plan_id: string;
                    /**
                     * @description Your own id of it. A request that is sent again gets 409, with the id of the first one.
                     * @default null
                     */
                    external_id?: string | null;
                    /** @description Default: now. At most 24 months ahead: it is SCHEDULED until then, and its meters are reserved. */
                    start_date?: string;
                    /**
                     * @description That of the plan, if it is sent at all.
                     * @enum {string}
                     */
                    billing_interval?: "day" | "week" | "month" | "year";
                    /**
                     * @description Whether periods begin on the day of the start, or on the first of the month, Monday or 1 January.
                     * @default anniversary
                     * @enum {string}
                     */
                    billing_alignment?: "anniversary" | "calendar";
                    /** @description In place of the trial_days of the plan. Null: no trial. */
                    trial_end_date?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["SubscriptionPreview"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listSubscriptions: {
        parameters: {
            query?: {
                customer_id?: string;
                plan_id?: string;
                /** @description Of the subscription, to the letter. */
                external_id?: string;
                status?: "SCHEDULED" | "TRIAL" | "ACTIVE" | "PAST_DUE" | "CANCELED";
                /** @description Those of which the run could not bill something when it last tried, a period or a draft that it finalizes; or all others. It tries again by itself. */
                has_run_error?: "true" | "false";
                /** @description In which order; with a minus the other way round. -created_at by default. */
                sort?: "created_at" | "-created_at";
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Subscription"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    createSubscription: {
        requestBody: {
            content: {
                "application/json": {
                    /** Format: uuid */
                    customer_id?: string;
                    /** @description In place of customer_id. */
                    customer_external_id?: string;
                    /** Format: uuid */
                    plan_id: string;
                    /**
                     * @description Your own id of it. A request that is sent again gets 409, with the id of the first one.
                     * @default null
                     */
                    external_id?: string | null;
                    /** @description Default: now. At most 24 months ahead: it is SCHEDULED until then, and its meters are reserved. */
                    start_date?: string;
                    /**
                     * @description That of the plan, if it is sent at all.
                     * @enum {string}
                     */
                    billing_interval?: "day" | "week" | "month" | "year";
                    /**
                     * @description Whether periods begin on the day of the start, or on the first of the month, Monday or 1 January.
                     * @default anniversary
                     * @enum {string}
                     */
                    billing_alignment?: "anniversary" | "calendar";
                    /** @description In place of the trial_days of the plan. Null: no trial. */
                    trial_end_date?: string | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getSubscription: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["SubscriptionWithEntitlements"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    updateSubscription: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Takes a cancellation back, until it takes place.
                     * @enum {boolean}
                     */
                    cancel_at_period_end?: false;
                    /** @description Takes a change of plan back, until it takes place. */
                    pending_plan_id?: null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listSubscriptionPeriods: {
        parameters: {
            query?: {
                /** @description How many periods after the current one. */
                count?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: {
                            cycle: number;
                            /**
                             * Format: uuid
                             * @description The plan whose charges bill it.
                             */
                            plan_id: string;
                            /** Format: date-time */
                            period_start: string;
                            /** Format: date-time */
                            period_end: string;
                            /** @description The dates in force of those of all of it; null: it is whole. */
                            days: string | null;
                        }[];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    cancelSubscription: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description False: it ends now.
                     * @default true
                     */
                    cancel_at_period_end?: boolean;
                    /** @default null */
                    reason?: string | null;
                } | null;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listCustomerCredits: {
        parameters: {
            query?: {
                /** @description As it was at this instant, by the ledger: what was granted, drawn, given back and ended before it, and what had not expired by it. The answer of an instant that is some minutes old stays the same. A bare date is its first instant in the time zone of the organization: 2027-01-01 is the end of 2026. */
                as_of?: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        /** @description By currency. */
                        balance: {
                            [key: string]: string;
                        };
                        grants: components["schemas"]["Credit"][];
                        /** @description How many there are, where these are not all. */
                        grants_total?: number;
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    createCredit: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description In units of the currency, with at most its minor digits. */
                    amount: number | string;
                    /** @description ISO 4217, in upper case. */
                    currency: string;
                    /** @default null */
                    expires_at?: string | null;
                    /**
                     * @description The smaller one is drawn first; of two equal ones that which expires earlier.
                     * @default 0
                     */
                    priority?: number;
                    /** @default null */
                    note?: string | null;
                    /**
                     * @description Your own id of it. A request that is sent again gets 409, with the id of the first one.
                     * @default null
                     */
                    external_id?: string | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["Credit"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    voidCredit: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Credit"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listCredits: {
        parameters: {
            query?: {
                customer_id?: string;
                currency?: string;
                status?: "ACTIVE" | "USED" | "EXPIRED" | "VOID";
                /** @description As it was at this instant, by the ledger: what was granted, drawn, given back and ended before it, and what had not expired by it. The answer of an instant that is some minutes old stays the same. A bare date is its first instant in the time zone of the organization: 2027-01-01 is the end of 2026. */
                as_of?: string;
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["ListedCredit"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getCreditBalance: {
        parameters: {
            query?: {
                customer_id?: string;
                currency?: string;
                /** @description As it was at this instant, by the ledger: what was granted, drawn, given back and ended before it, and what had not expired by it. The answer of an instant that is some minutes old stays the same. A bare date is its first instant in the time zone of the organization: 2027-01-01 is the end of 2026. */
                as_of?: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["CreditBalance"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listCreditEntries: {
        parameters: {
            query?: {
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["CreditEntry"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listInvoiceCredits: {
        parameters: {
            query?: {
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["CreditEntry"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listEntitlements: {
        parameters: {
            query: {
                /** @description Your own identifier; no record is needed. */
                customer_external_id: string;
                /** @description The lookup_key of one feature. Without it, all that the subscriptions give. */
                feature?: string;
                /** @description How much is about to be used: whether all of it fits below the limit. */
                quantity?: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Entitlement"] | {
                        data: components["schemas"]["Entitlement"][];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listCustomerEntitlements: {
        parameters: {
            query?: {
                /** @description The lookup_key of one feature. Without it, all that the subscriptions give. */
                feature?: string;
                /** @description How much is about to be used: whether all of it fits below the limit. */
                quantity?: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Entitlement"] | {
                        data: components["schemas"]["Entitlement"][];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listBillingEvents: {
        parameters: {
            query?: {
                /** @description The meta.next_cursor of the page before. */
                cursor?: number;
                limit?: number;
                /** @description Only events with a higher sequence: whoever has read to the end asks again with meta.next_after. */
                after?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["BillingEvent"][];
                        meta: {
                            next_after: number;
                            next_cursor: string | null;
                        };
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listWebhookEndpoints: {
        parameters: {
            query?: {
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookEndpoint"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    createWebhookEndpoint: {
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: uri
                     * @description https. Redirects are not followed.
                     */
                    url: string;
                    /**
                     * @description Only events of these types. Null: all, also those that later versions add.
                     * @default null
                     */
                    event_types?: ("invoice.created" | "invoice.finalized" | "invoice.credited" | "invoice.payment_recorded" | "invoice.paid" | "invoice.payment_taken_back" | "invoice.voided" | "invoice.uncollectible" | "invoice.past_due" | "subscription.created" | "subscription.activated" | "subscription.changed" | "subscription.past_due" | "subscription.canceled" | "credit.granted" | "credit.voided" | "usage.unpriced" | "usage.threshold_reached" | "webhook_endpoint.disabled")[] | null;
                    /**
                     * @description DISABLED: nothing is sent until it is turned on.
                     * @default ACTIVE
                     * @enum {string}
                     */
                    status?: "ACTIVE" | "DISABLED";
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWithSecret"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getWebhookEndpoint: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    deleteWebhookEndpoint: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    updateWebhookEndpoint: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: uri
                     * @description https. Redirects are not followed.
                     */
                    url?: string;
                    /** @description Only events of these types. Null: all, also those that later versions add. */
                    event_types?: ("invoice.created" | "invoice.finalized" | "invoice.credited" | "invoice.payment_recorded" | "invoice.paid" | "invoice.payment_taken_back" | "invoice.voided" | "invoice.uncollectible" | "invoice.past_due" | "subscription.created" | "subscription.activated" | "subscription.changed" | "subscription.past_due" | "subscription.canceled" | "credit.granted" | "credit.voided" | "usage.unpriced" | "usage.threshold_reached" | "webhook_endpoint.disabled")[] | null;
                    /** @enum {string} */
                    status?: "ACTIVE" | "DISABLED";
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWithSecret"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    replayWebhooks: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A sequence, or a time: a date is its beginning in UTC. */
                    from: number | string;
                    /** @description A sequence, which is in it, or a time, which is not. Missing: up to now. */
                    to?: number | string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                status?: "PENDING" | "DELIVERED" | "FAILED";
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookDelivery"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    testWebhookEndpoint: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    retryWebhookDelivery: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listAlerts: {
        parameters: {
            query?: {
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Alert"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    createAlert: {
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    /**
                     * Format: uuid
                     * @description Its usage in the billing period of the customer, or in the month where there is none.
                     */
                    meter_id?: string;
                    /**
                     * @description In place of meter_id: what the metered charges of the open period of each subscription come to, without fixed prices, in its own currency. Thresholds are compared as numbers, whatever that is.
                     * @default false
                     */
                    subscription_amount?: boolean;
                    /**
                     * Format: uuid
                     * @description Missing: all customers, also those to come.
                     */
                    customer_id?: string;
                    /** @description Each above the one before it, as numbers or as texts, taken exactly as sent. */
                    thresholds: (number | string)[];
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getAlert: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    deleteAlert: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    updateAlert: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    /** @description Each above the one before it, as numbers or as texts, taken exactly as sent. */
                    thresholds?: (number | string)[];
                    /** @enum {string} */
                    status?: "ACTIVE" | "DISABLED";
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listAlertCrossings: {
        parameters: {
            query?: {
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["AlertCrossing"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listUnbilledUsage: {
        parameters: {
            query?: {
                /** @description A month in UTC. Without it, the month of the last day that is over. */
                month?: string;
                /** @description What the feed tells, or only the rest: what is not_in_plan. */
                is_told?: "true" | "false";
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["UnbilledUsage"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    trackUsage: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["UsageEvent"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["AcceptedEvent"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    trackUsageBatch: {
        requestBody: {
            content: {
                "application/json": {
                    events: components["schemas"]["UsageEvent"][];
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": {
                        data: components["schemas"]["BatchItemResult"][];
                    };
                };
            };
            /** @description Multi-Status */
            207: {
                content: {
                    "application/json": {
                        data: components["schemas"]["BatchItemResult"][];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listInvoices: {
        parameters: {
            query?: {
                customer_id?: string;
                subscription_id?: string;
                /** @description The whole number, in whatever case. */
                invoice_number?: string;
                /** @description How the invoice_number begins. In whatever case. */
                search?: string;
                status?: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
                /** @description From this instant on. Compared with period_end. A bare date is its first instant in the time zone of the organization. */
                from?: string;
                /** @description Before this instant. Compared with period_end. A bare date is its first instant in the time zone of the organization. */
                to?: string;
                /** @description From this date on. Compared with issue_date, which a draft has not. */
                issued_from?: string;
                /** @description Before this date. Compared with issue_date, which a draft has not. */
                issued_to?: string;
                /** @description Of open ones whose due date has ended, or of all others. */
                is_past_due?: "true" | "false";
                /** @description In which order; with a minus the other way round. -created_at by default. By issue_date there are only those that have one: no drafts. -issue_date by default where issued_from or issued_to alone finds them. */
                sort?: "created_at" | "-created_at" | "issue_date" | "-issue_date";
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Invoice"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listSubscriptionInvoices: {
        parameters: {
            query?: {
                status?: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
                /** @description From this instant on. Compared with period_end. A bare date is its first instant in the time zone of the organization. */
                from?: string;
                /** @description Before this instant. Compared with period_end. A bare date is its first instant in the time zone of the organization. */
                to?: string;
                /** @description From this date on. Compared with issue_date, which a draft has not. */
                issued_from?: string;
                /** @description Before this date. Compared with issue_date, which a draft has not. */
                issued_to?: string;
                /** @description Of open ones whose due date has ended, or of all others. */
                is_past_due?: "true" | "false";
                /** @description In which order; with a minus the other way round. -created_at by default. By issue_date there are only those that have one: no drafts. -issue_date by default where issued_from or issued_to alone finds them. */
                sort?: "created_at" | "-created_at" | "issue_date" | "-issue_date";
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Invoice"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getInvoice: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["InvoiceWithLines"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listLinesOfInvoice: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["InvoiceLine"][];
                        meta: components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    addInvoiceLine: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    description: string;
                    /** @description In units of the currency, with at most its minor digits. May be below zero, and is not 0. */
                    amount: number | string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["InvoiceLine"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    recomputeInvoice: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @default rollups
                     * @enum {string}
                     */
                    from?: "rollups" | "events";
                } | null;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Recomputation"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getInvoicePdf: {
        parameters: {
            query?: {
                /** @description issued: as it was when it was finalized, the same bytes whatever happened since. now: with what was paid, credited or voided since, as the invoice is. */
                as?: "issued" | "now";
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/pdf": string;
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    finalizeInvoice: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["InvoiceWithLines"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    voidInvoice: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @default null */
                    note?: string | null;
                    /**
                     * @description Whether the next invoice of the subscription bills again what this one billed. Not what was added by hand.
                     * @default false
                     */
                    rebill?: boolean;
                } | null;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["InvoiceWithLines"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    markInvoiceUncollectible: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @default null */
                    note?: string | null;
                } | null;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["InvoiceWithLines"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    payInvoice: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    amount?: (number | string) | null;
                    /**
                     * @description An instant, or a date in the time zone of the subscription. Not in the future. Default: now.
                     * @default null
                     */
                    paid_at?: string | null;
                    /**
                     * @description What paid it, such as the id of a processor: whoever says it again is told.
                     * @default null
                     */
                    reference?: string | null;
                } | null;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["InvoiceWithLines"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    deletePayment: {
        parameters: {
            path: {
                id: string;
                payment_id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @default null */
                    note?: string | null;
                } | null;
            };
        };
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    finalizeInvoices: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description Of drafts. The order does not matter. */
                    ids: string[];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: {
                            /** Format: uuid */
                            id: string;
                            /**
                             * @description deleted: it came to no line, so it is no more. earlier_draft: an earlier invoice of its subscription is a draft, and is not among these, or could not be computed. not_computed: it is a draft still. not_reached: together they have more charges and lines than one request takes on; send it again.
                             * @enum {string}
                             */
                            outcome: "finalized" | "deleted" | "earlier_draft" | "not_computed" | "not_reached" | "invoice_not_draft";
                            invoice_number: string | null;
                            not_computed?: components["schemas"]["NotComputed"];
                        }[];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getInvoiceLine: {
        parameters: {
            path: {
                id: string;
                line_id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["InvoiceLine"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    deleteInvoiceLine: {
        parameters: {
            path: {
                id: string;
                line_id: string;
            };
        };
        responses: {
            /** @description Done; there is nothing more to say. */
            204: {
            };
            default: components["responses"]["Refusal"];
        };
    };
    getInvoiceLineUsage: {
        parameters: {
            query?: {
                /** @description Weeks are those of ISO 8601: they begin on Monday. */
                group_by?: "hour" | "day" | "week" | "month";
            };
            path: {
                id: string;
                line_id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["LineUsage"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listInvoiceLineEvents: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                changes?: "true" | "false";
            };
            path: {
                id: string;
                line_id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["EventReceipt"][];
                        meta: components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listInvoiceLines: {
        parameters: {
            query?: {
                customer_id?: string;
                subscription_id?: string;
                /** @description Of the invoice. Drafts are computed when they are read, and are not listed. */
                status?: "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
                /** @description Of open ones whose due date has ended, or of all others. */
                is_past_due?: "true" | "false";
                /** @description From this instant on. Compared with period_end. A bare date is its first instant in the time zone of the organization. */
                from?: string;
                /** @description Before this instant. Compared with period_end. A bare date is its first instant in the time zone of the organization. */
                to?: string;
                /** @description From this date on. Compared with issue_date, which a draft has not. */
                issued_from?: string;
                /** @description Before this date. Compared with issue_date, which a draft has not. */
                issued_to?: string;
                /** @description Goes before the header Accept. */
                format?: "json" | "csv";
                /** @description The next_cursor of the page before. */
                cursor?: string;
                limit?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["ListedLine"][];
                        meta: components["schemas"]["CursorMeta"];
                    };
                    "text/csv": string;
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getSubscriptionUsage: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["ChargeUsage"][];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    previewInvoice: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["InvoicePreview"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    settleSubscription: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        invoice: null;
                    };
                };
            };
            /** @description Created */
            201: {
                content: {
                    "application/json": {
                        invoice: components["schemas"]["InvoiceWithLines"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    changeSubscriptionPlan: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** Format: uuid */
                    plan_id: string;
                    /**
                     * @description Now: what the old plan comes to until this instant and what the new one has in advance are on one invoice.
                     * @default period_end
                     * @enum {string}
                     */
                    when?: "period_end" | "now";
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    previewPlanChange: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** Format: uuid */
                    plan_id: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["PlanChangePreview"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getEvent: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["EventReceipt"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                status?: "recorded" | "voided" | "rejected" | "duplicate";
                meter_id?: string;
                meter_token?: string;
                customer_external_id?: string;
                idempotency_key?: string;
                /** @description Why events were rejected, as GET /events/rejections has it: no others have a reason. */
                reason?: string;
                /** @description Events of this time or later: ISO 8601 with an offset, or a date (UTC). */
                start_date?: string;
                /** @description Events of before this time; a date includes that day (UTC). */
                end_date?: string;
                cursor?: string;
                limit?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["EventReceipt"][];
                        meta: components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listEventRejections: {
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["EventRejection"][];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    replayEvent: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Free key/value data: at most 50 keys, 8 KiB and 5 levels. A UNIQUE_COUNT meter counts user_id. */
                    metadata?: {
                        [key: string]: unknown;
                    };
                    /** @description In place of the one that it was sent with. Null: it has none any more. */
                    idempotency_key?: string | null;
                } | null;
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                content: {
                    "application/json": {
                        /** Format: uuid */
                        id: string;
                        /** @enum {string} */
                        status: "queued";
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    voidEvent: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Why; it stands in the receipt of the event. */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["CorrectionMade"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    amendEvent: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Why; it stands in the receipt of the event. */
                    reason: string;
                    /** @description In place of the one that was recorded: a number greater than 0, or the same as text. */
                    quantity?: number | string;
                    /**
                     * Format: date-time
                     * @description ISO 8601 with an offset, in place of the one that was recorded.
                     */
                    timestamp?: string;
                    /** @description In place of all of the metadata that was recorded; null: none. */
                    metadata?: {
                        [key: string]: unknown;
                    } | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["CorrectionMade"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listCorrections: {
        parameters: {
            query?: {
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Correction"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    createCorrections: {
        requestBody: {
            content: {
                "application/json": {
                    corrections: {
                        /** @enum {string} */
                        type: "void" | "amend";
                        /** Format: uuid */
                        event_id: string;
                        /** @description Why; it stands in the receipt of the event. */
                        reason: string;
                        /** @description In place of the one that was recorded: a number greater than 0, or the same as text. */
                        quantity?: number | string;
                        /**
                         * Format: date-time
                         * @description ISO 8601 with an offset, in place of the one that was recorded.
                         */
                        timestamp?: string;
                        /** @description In place of all of the metadata that was recorded; null: none. */
                        metadata?: {
                            [key: string]: unknown;
                        } | null;
                    }[];
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": {
                        data: components["schemas"]["CorrectionMade"][];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    previewCorrections: {
        requestBody: {
            content: {
                "application/json": {
                    corrections: {
                        /** @enum {string} */
                        type: "void" | "amend";
                        /** Format: uuid */
                        event_id: string;
                        /** @description Why; it stands in the receipt of the event. */
                        reason: string;
                        /** @description In place of the one that was recorded: a number greater than 0, or the same as text. */
                        quantity?: number | string;
                        /**
                         * Format: date-time
                         * @description ISO 8601 with an offset, in place of the one that was recorded.
                         */
                        timestamp?: string;
                        /** @description In place of all of the metadata that was recorded; null: none. */
                        metadata?: {
                            [key: string]: unknown;
                        } | null;
                    }[];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["CorrectionsPreview"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getOverview: {
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getMeterUsage: {
        parameters: {
            query?: {
                /** @description Usage counts from this instant on. ISO 8601 with an offset (write + as %2B), or a bare date in the time zone. Default: the midnight 30 days before the end. */
                start_date?: string;
                /** @description Usage counts until before this instant; a bare date includes that day. ISO 8601 with an offset (write + as %2B), or a bare date in the time zone. Default: now. */
                end_date?: string;
                /** @description A time zone of the IANA database, such as Europe/Berlin. */
                timezone?: string;
                /** @description Weeks are those of ISO 8601: they begin on Monday. */
                group_by?: "hour" | "day" | "week" | "month";
                /** @description One of the meter's metadata_keys. The answer then has groups: the usage of each of its values, largest first. */
                group_by_metadata?: string;
                /** @description How many values are told apart. The others are one group, the rest. */
                groups_limit?: number;
                /** @description filter[model]=gpt-4: only events with this value, by any of the meter's metadata_keys. Numbers and booleans as text. */
                filter?: {
                    [key: string]: string;
                };
                /** @description The id of the record. */
                customer_id?: string;
                /** @description Your own identifier; no record is needed. */
                customer_external_id?: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["MeterUsage"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getUsage: {
        parameters: {
            query: {
                /** @description Usage counts from this instant on. ISO 8601 with an offset (write + as %2B), or a bare date in the time zone. Default: the midnight 30 days before the end. */
                start_date?: string;
                /** @description Usage counts until before this instant; a bare date includes that day. ISO 8601 with an offset (write + as %2B), or a bare date in the time zone. Default: now. */
                end_date?: string;
                /** @description A time zone of the IANA database, such as Europe/Berlin. */
                timezone?: string;
                /** @description Weeks are those of ISO 8601: they begin on Monday. */
                group_by?: "hour" | "day" | "week" | "month";
                /** @description One of the meter's metadata_keys. The answer then has groups: the usage of each of its values, largest first. */
                group_by_metadata?: string;
                /** @description How many values are told apart. The others are one group, the rest. */
                groups_limit?: number;
                /** @description filter[model]=gpt-4: only events with this value, by any of the meter's metadata_keys. Numbers and booleans as text. */
                filter?: {
                    [key: string]: string;
                };
                /** @description The id of the record. */
                customer_id?: string;
                /** @description Your own identifier; no record is needed. */
                customer_external_id?: string;
                meter_token: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["MeterUsage"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listMeterCustomers: {
        parameters: {
            query?: {
                /** @description Usage counts from this instant on. ISO 8601 with an offset (write + as %2B), or a bare date in the time zone. Default: the midnight 30 days before the end. */
                start_date?: string;
                /** @description Usage counts until before this instant; a bare date includes that day. ISO 8601 with an offset (write + as %2B), or a bare date in the time zone. Default: now. */
                end_date?: string;
                /** @description A time zone of the IANA database, such as Europe/Berlin. */
                timezone?: string;
                /** @description In which order; with a minus the other way round. -total_usage by default. By customer_external_id (its bytes) each is met once, also while usage changes between two pages. */
                sort?: "total_usage" | "-total_usage" | "customer_external_id" | "-customer_external_id";
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["CustomerOfMeter"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                        /** Format: uuid */
                        meter_id: string;
                        /** Format: date-time */
                        period_start: string;
                        /** Format: date-time */
                        period_end: string;
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getCustomerUsage: {
        parameters: {
            query?: {
                /** @description Usage counts from this instant on. ISO 8601 with an offset (write + as %2B), or a bare date in the time zone. Default: the midnight 30 days before the end. */
                start_date?: string;
                /** @description Usage counts until before this instant; a bare date includes that day. ISO 8601 with an offset (write + as %2B), or a bare date in the time zone. Default: now. */
                end_date?: string;
                /** @description A time zone of the IANA database, such as Europe/Berlin. */
                timezone?: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        /** Format: uuid */
                        customer_id: string;
                        customer_external_id: string;
                        /** Format: date-time */
                        period_start: string;
                        /** Format: date-time */
                        period_end: string;
                        data: components["schemas"]["MeterOfCustomer"][];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listErasures: {
        parameters: {
            query?: {
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Erasure"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    eraseCustomer: {
        requestBody: {
            content: {
                "application/json": {
                    /** Format: uuid */
                    customer_id?: string;
                    /** @description In place of customer_id; no record is needed. */
                    customer_external_id?: string;
                    /**
                     * Format: date
                     * @description For retention that is over: invoices that were issued before this date lose the copy of the customer, their note and their reference as well.
                     */
                    invoice_copies_issued_before?: string;
                };
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getErasure: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listUsageMoves: {
        parameters: {
            query?: {
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["UsageMove"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    moveUsage: {
        requestBody: {
            content: {
                "application/json": {
                    from_external_id: string;
                    /** @description It may have usage of its own, to which this is added. */
                    to_external_id: string;
                };
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                content: {
                    "application/json": components["schemas"]["UsageMove"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getUsageMove: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["UsageMove"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    createWidgetToken: {
        requestBody: {
            content: {
                "application/json": {
                    customer_external_id: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                content: {
                    "application/json": components["schemas"]["WidgetToken"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getWidgetUsage: {
        parameters: {
            query?: {
                /** @description Usage counts from this instant on. ISO 8601 with an offset (write + as %2B), or a bare date in the time zone. Default: the midnight 30 days before the end. */
                start_date?: string;
                /** @description Usage counts until before this instant; a bare date includes that day. ISO 8601 with an offset (write + as %2B), or a bare date in the time zone. Default: now. */
                end_date?: string;
                /** @description A time zone of the IANA database, such as Europe/Berlin. */
                timezone?: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["WidgetUsage"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getWidgetMeterUsage: {
        parameters: {
            query?: {
                /** @description Usage counts from this instant on. ISO 8601 with an offset (write + as %2B), or a bare date in the time zone. Default: the midnight 30 days before the end. */
                start_date?: string;
                /** @description Usage counts until before this instant; a bare date includes that day. ISO 8601 with an offset (write + as %2B), or a bare date in the time zone. Default: now. */
                end_date?: string;
                /** @description A time zone of the IANA database, such as Europe/Berlin. */
                timezone?: string;
                /** @description Weeks are those of ISO 8601: they begin on Monday. */
                group_by?: "hour" | "day" | "week" | "month";
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["MeterUsage"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getWidgetBillingPeriod: {
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["WidgetBillingPeriod"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listWidgetInvoices: {
        parameters: {
            query?: {
                /** @description The meta.next_cursor of the page before. */
                cursor?: string;
                /** @description How many at once: 20 by default. */
                limit?: number;
                /** @description In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. */
                page?: number;
                /** @description In the place of limit, where page is sent. */
                page_size?: number;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["WidgetInvoice"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getWidgetInvoice: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["WidgetInvoiceWithLines"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listLinesOfWidgetInvoice: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["WidgetInvoiceLine"][];
                        meta: components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    listWidgetInvoiceLineEvents: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            path: {
                id: string;
                line_id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["WidgetEvent"][];
                        meta: components["schemas"]["CursorMeta"];
                    };
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getWidgetInvoicePdf: {
        parameters: {
            query?: {
                /** @description issued: as it was when it was finalized, the same bytes whatever happened since. now: with what was paid, credited or voided since, as the invoice is. */
                as?: "issued" | "now";
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/pdf": string;
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getWidgetBalance: {
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["WidgetBalance"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getWidgetPlan: {
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["WidgetPlan"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    getWidgetSettings: {
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["WidgetSettings"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    updateWidgetSettings: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description The meters that customers are shown, in this order, each where the customer uses it. Null: all of them, newest first. A meter that is not named is shown to no customer. */
                    meter_ids?: string[] | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                content: {
                    "application/json": components["schemas"]["WidgetSettings"];
                };
            };
            default: components["responses"]["Refusal"];
        };
    };
    invoiceCreated: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "invoice.created";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        id: string;
                        /** @enum {string} */
                        kind: "SUBSCRIPTION" | "ADJUSTMENT";
                        /** @enum {string} */
                        status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
                        /** Format: uuid */
                        subscription_id: string;
                        /** Format: uuid */
                        customer_id: string;
                        cycle: number | null;
                        currency: string;
                        /** Format: date-time */
                        period_start: string;
                        /** Format: date-time */
                        period_end: string;
                        /** @description When its grace is over. Null where the billing settings leave it to people to finalize. */
                        finalizes_at: string | null;
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    invoiceFinalized: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "invoice.finalized";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        id: string;
                        /** @enum {string} */
                        kind: "SUBSCRIPTION" | "ADJUSTMENT";
                        /** @enum {string} */
                        status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
                        /** Format: uuid */
                        subscription_id: string;
                        /** Format: uuid */
                        customer_id: string;
                        cycle: number | null;
                        currency: string;
                        /** Format: date-time */
                        period_start: string;
                        /** Format: date-time */
                        period_end: string;
                        invoice_number: string | null;
                        /** @description A decimal, in units of the currency. */
                        total: string;
                        /** @description A decimal, in units of the currency. */
                        credits_applied: string;
                        /** @description A decimal, in units of the currency. */
                        amount_paid: string;
                        /** @description A decimal, in units of the currency. */
                        amount_due: string;
                        issue_date: string | null;
                        due_date: string | null;
                        paid_at: string | null;
                        reference: string | null;
                        note: string | null;
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    invoiceCredited: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "invoice.credited";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        id: string;
                        /** @enum {string} */
                        kind: "SUBSCRIPTION" | "ADJUSTMENT";
                        /** @enum {string} */
                        status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
                        /** Format: uuid */
                        subscription_id: string;
                        /** Format: uuid */
                        customer_id: string;
                        cycle: number | null;
                        currency: string;
                        /** Format: date-time */
                        period_start: string;
                        /** Format: date-time */
                        period_end: string;
                        invoice_number: string | null;
                        /** @description A decimal, in units of the currency. */
                        total: string;
                        /** @description A decimal, in units of the currency. */
                        credits_applied: string;
                        /** @description A decimal, in units of the currency. */
                        amount_paid: string;
                        /** @description A decimal, in units of the currency. */
                        amount_due: string;
                        issue_date: string | null;
                        due_date: string | null;
                        paid_at: string | null;
                        reference: string | null;
                        note: string | null;
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    invoicePaymentRecorded: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "invoice.payment_recorded";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        id: string;
                        /** @enum {string} */
                        kind: "SUBSCRIPTION" | "ADJUSTMENT";
                        /** @enum {string} */
                        status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
                        /** Format: uuid */
                        subscription_id: string;
                        /** Format: uuid */
                        customer_id: string;
                        cycle: number | null;
                        currency: string;
                        /** Format: date-time */
                        period_start: string;
                        /** Format: date-time */
                        period_end: string;
                        invoice_number: string | null;
                        /** @description A decimal, in units of the currency. */
                        total: string;
                        /** @description A decimal, in units of the currency. */
                        credits_applied: string;
                        /** @description A decimal, in units of the currency. */
                        amount_paid: string;
                        /** @description A decimal, in units of the currency. */
                        amount_due: string;
                        issue_date: string | null;
                        due_date: string | null;
                        paid_at: string | null;
                        reference: string | null;
                        note: string | null;
                        payment: {
                            /** Format: uuid */
                            id: string;
                            /** @description A decimal with exactly the digits of the currency. */
                            amount: string;
                            /** Format: date-time */
                            paid_at: string;
                            /** @description What paid it, such as the id of a processor. */
                            reference: string | null;
                            /** Format: date-time */
                            created_at: string;
                            /** @description Null: it stands. */
                            taken_back_at: string | null;
                            /** @description Why it was taken back. */
                            note: string | null;
                        };
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    invoicePaid: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "invoice.paid";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        id: string;
                        /** @enum {string} */
                        kind: "SUBSCRIPTION" | "ADJUSTMENT";
                        /** @enum {string} */
                        status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
                        /** Format: uuid */
                        subscription_id: string;
                        /** Format: uuid */
                        customer_id: string;
                        cycle: number | null;
                        currency: string;
                        /** Format: date-time */
                        period_start: string;
                        /** Format: date-time */
                        period_end: string;
                        invoice_number: string | null;
                        /** @description A decimal, in units of the currency. */
                        total: string;
                        /** @description A decimal, in units of the currency. */
                        credits_applied: string;
                        /** @description A decimal, in units of the currency. */
                        amount_paid: string;
                        /** @description A decimal, in units of the currency. */
                        amount_due: string;
                        issue_date: string | null;
                        due_date: string | null;
                        paid_at: string | null;
                        reference: string | null;
                        note: string | null;
                        payment?: {
                            /** Format: uuid */
                            id: string;
                            /** @description A decimal with exactly the digits of the currency. */
                            amount: string;
                            /** Format: date-time */
                            paid_at: string;
                            /** @description What paid it, such as the id of a processor. */
                            reference: string | null;
                            /** Format: date-time */
                            created_at: string;
                            /** @description Null: it stands. */
                            taken_back_at: string | null;
                            /** @description Why it was taken back. */
                            note: string | null;
                        };
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    invoicePaymentTakenBack: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "invoice.payment_taken_back";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        id: string;
                        /** @enum {string} */
                        kind: "SUBSCRIPTION" | "ADJUSTMENT";
                        /** @enum {string} */
                        status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
                        /** Format: uuid */
                        subscription_id: string;
                        /** Format: uuid */
                        customer_id: string;
                        cycle: number | null;
                        currency: string;
                        /** Format: date-time */
                        period_start: string;
                        /** Format: date-time */
                        period_end: string;
                        invoice_number: string | null;
                        /** @description A decimal, in units of the currency. */
                        total: string;
                        /** @description A decimal, in units of the currency. */
                        credits_applied: string;
                        /** @description A decimal, in units of the currency. */
                        amount_paid: string;
                        /** @description A decimal, in units of the currency. */
                        amount_due: string;
                        issue_date: string | null;
                        due_date: string | null;
                        paid_at: string | null;
                        reference: string | null;
                        note: string | null;
                        payment: {
                            /** Format: uuid */
                            id: string;
                            /** @description A decimal with exactly the digits of the currency. */
                            amount: string;
                            /** Format: date-time */
                            paid_at: string;
                            /** @description What paid it, such as the id of a processor. */
                            reference: string | null;
                            /** Format: date-time */
                            created_at: string;
                            /** @description Null: it stands. */
                            taken_back_at: string | null;
                            /** @description Why it was taken back. */
                            note: string | null;
                        };
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    invoiceVoided: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "invoice.voided";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        id: string;
                        /** @enum {string} */
                        kind: "SUBSCRIPTION" | "ADJUSTMENT";
                        /** @enum {string} */
                        status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
                        /** Format: uuid */
                        subscription_id: string;
                        /** Format: uuid */
                        customer_id: string;
                        cycle: number | null;
                        currency: string;
                        /** Format: date-time */
                        period_start: string;
                        /** Format: date-time */
                        period_end: string;
                        invoice_number: string | null;
                        /** @description A decimal, in units of the currency. */
                        total: string;
                        /** @description A decimal, in units of the currency. */
                        credits_applied: string;
                        /** @description A decimal, in units of the currency. */
                        amount_paid: string;
                        /** @description A decimal, in units of the currency. */
                        amount_due: string;
                        issue_date: string | null;
                        due_date: string | null;
                        paid_at: string | null;
                        reference: string | null;
                        note: string | null;
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    invoiceUncollectible: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "invoice.uncollectible";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        id: string;
                        /** @enum {string} */
                        kind: "SUBSCRIPTION" | "ADJUSTMENT";
                        /** @enum {string} */
                        status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
                        /** Format: uuid */
                        subscription_id: string;
                        /** Format: uuid */
                        customer_id: string;
                        cycle: number | null;
                        currency: string;
                        /** Format: date-time */
                        period_start: string;
                        /** Format: date-time */
                        period_end: string;
                        invoice_number: string | null;
                        /** @description A decimal, in units of the currency. */
                        total: string;
                        /** @description A decimal, in units of the currency. */
                        credits_applied: string;
                        /** @description A decimal, in units of the currency. */
                        amount_paid: string;
                        /** @description A decimal, in units of the currency. */
                        amount_due: string;
                        issue_date: string | null;
                        due_date: string | null;
                        paid_at: string | null;
                        reference: string | null;
                        note: string | null;
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    invoicePastDue: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "invoice.past_due";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        id: string;
                        /** @enum {string} */
                        kind: "SUBSCRIPTION" | "ADJUSTMENT";
                        /** @enum {string} */
                        status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
                        /** Format: uuid */
                        subscription_id: string;
                        /** Format: uuid */
                        customer_id: string;
                        cycle: number | null;
                        currency: string;
                        /** Format: date-time */
                        period_start: string;
                        /** Format: date-time */
                        period_end: string;
                        invoice_number: string | null;
                        /** @description A decimal, in units of the currency. */
                        total: string;
                        /** @description A decimal, in units of the currency. */
                        credits_applied: string;
                        /** @description A decimal, in units of the currency. */
                        amount_paid: string;
                        /** @description A decimal, in units of the currency. */
                        amount_due: string;
                        issue_date: string | null;
                        due_date: string | null;
                        paid_at: string | null;
                        reference: string | null;
                        note: string | null;
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    subscriptionCreated: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "subscription.created";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        id: string;
                        external_id: string | null;
                        /** Format: uuid */
                        customer_id: string;
                        /** Format: uuid */
                        plan_id: string;
                        pending_plan_id: string | null;
                        /** @enum {string} */
                        status: "SCHEDULED" | "TRIAL" | "ACTIVE" | "PAST_DUE" | "CANCELED";
                        cycle: number | null;
                        /** Format: date-time */
                        current_period_start: string;
                        /** Format: date-time */
                        current_period_end: string;
                        cancel_at_period_end: boolean;
                        canceled_at: string | null;
                        ended_at: string | null;
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    subscriptionActivated: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "subscription.activated";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        id: string;
                        external_id: string | null;
                        /** Format: uuid */
                        customer_id: string;
                        /** Format: uuid */
                        plan_id: string;
                        pending_plan_id: string | null;
                        /** @enum {string} */
                        status: "SCHEDULED" | "TRIAL" | "ACTIVE" | "PAST_DUE" | "CANCELED";
                        cycle: number | null;
                        /** Format: date-time */
                        current_period_start: string;
                        /** Format: date-time */
                        current_period_end: string;
                        cancel_at_period_end: boolean;
                        canceled_at: string | null;
                        ended_at: string | null;
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    subscriptionChanged: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "subscription.changed";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        id: string;
                        external_id: string | null;
                        /** Format: uuid */
                        customer_id: string;
                        /** Format: uuid */
                        plan_id: string;
                        pending_plan_id: string | null;
                        /** @enum {string} */
                        status: "SCHEDULED" | "TRIAL" | "ACTIVE" | "PAST_DUE" | "CANCELED";
                        cycle: number | null;
                        /** Format: date-time */
                        current_period_start: string;
                        /** Format: date-time */
                        current_period_end: string;
                        cancel_at_period_end: boolean;
                        canceled_at: string | null;
                        ended_at: string | null;
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    subscriptionPastDue: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "subscription.past_due";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        id: string;
                        external_id: string | null;
                        /** Format: uuid */
                        customer_id: string;
                        /** Format: uuid */
                        plan_id: string;
                        pending_plan_id: string | null;
                        /** @enum {string} */
                        status: "SCHEDULED" | "TRIAL" | "ACTIVE" | "PAST_DUE" | "CANCELED";
                        cycle: number | null;
                        /** Format: date-time */
                        current_period_start: string;
                        /** Format: date-time */
                        current_period_end: string;
                        cancel_at_period_end: boolean;
                        canceled_at: string | null;
                        ended_at: string | null;
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    subscriptionCanceled: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "subscription.canceled";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        id: string;
                        external_id: string | null;
                        /** Format: uuid */
                        customer_id: string;
                        /** Format: uuid */
                        plan_id: string;
                        pending_plan_id: string | null;
                        /** @enum {string} */
                        status: "SCHEDULED" | "TRIAL" | "ACTIVE" | "PAST_DUE" | "CANCELED";
                        cycle: number | null;
                        /** Format: date-time */
                        current_period_start: string;
                        /** Format: date-time */
                        current_period_end: string;
                        cancel_at_period_end: boolean;
                        canceled_at: string | null;
                        ended_at: string | null;
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    creditGranted: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "credit.granted";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        credit_id: string;
                        /** Format: uuid */
                        customer_id: string;
                        currency: string;
                        /** @description A decimal, in units of the currency. */
                        amount: string;
                        invoice_id: string | null;
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    creditVoided: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "credit.voided";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        credit_id: string;
                        /** Format: uuid */
                        customer_id: string;
                        currency: string;
                        /** @description A decimal, in units of the currency. */
                        amount: string;
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    usageUnpriced: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "usage.unpriced";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        meter_id: string;
                        /** @enum {string} */
                        reason: "price_ended" | "not_in_plan" | "after_end" | "no_subscription";
                        month: string;
                        /** Format: date */
                        day: string;
                        events: number;
                        customers: number;
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    usageThresholdReached: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "usage.threshold_reached";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /**
                         * Format: uuid
                         * @description Of the crossing.
                         */
                        id: string;
                        /** Format: uuid */
                        alert_id: string;
                        /** @description Of the alert. */
                        name: string;
                        customer_id: string | null;
                        customer_external_id: string;
                        /** @description Null: an amount was reached. */
                        meter_id: string | null;
                        /** @description Whose period it is. Null: a month of the calendar. */
                        subscription_id: string | null;
                        /** @description Of an amount. */
                        currency: string | null;
                        /** Format: date-time */
                        period_start: string;
                        /** Format: date-time */
                        period_end: string;
                        threshold: string;
                        /** @description What it had come to when it was seen. */
                        value: string;
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    webhookEndpointDisabled: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "webhook_endpoint.disabled";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        /** Format: uuid */
                        id: string;
                        /** @enum {string} */
                        reason: "FAILING" | "GONE";
                        failing_since: string | null;
                        /** @description Of the event in the feed: receivers order by it. */
                        sequence: number;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
    webhookTest: {
        parameters: {
            header: {
                /** @description The same each time that it is sent, and of no other event: receivers drop what they have seen by it. */
                "webhook-id": string;
                /** @description When it was sent, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "webhook.test";
                    /** Format: date-time */
                    timestamp: string;
                    data: {
                        sequence: null;
                        /** @description Who did it: a user, a service account, or weir. */
                        actor: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description It is delivered. Any other answer has it sent again. */
            "2XX": {
            };
        };
    };
}

export interface paths {
    "/healthz": {
        get: operations["getHealth"];
    };
    "/readyz": {
        get: operations["getReadiness"];
    };
    "/version": {
        get: operations["getVersion"];
    };
    "/api/v1/system": {
        get: operations["getSystem"];
    };
    "/api/v1/auth/options": {
        get: operations["getSignInOptions"];
    };
    "/api/v1/auth/signup": {
        post: operations["signUp"];
    };
    "/api/v1/auth/login": {
        post: operations["signIn"];
    };
    "/api/v1/auth/logout": {
        post: operations["signOut"];
    };
    "/api/v1/auth/me": {
        get: operations["getAccount"];
    };
    "/api/v1/auth/sessions": {
        get: operations["listSessions"];
        delete: operations["deleteOtherSessions"];
    };
    "/api/v1/auth/sessions/{id}": {
        delete: operations["deleteSession"];
    };
    "/api/v1/auth/password": {
        post: operations["changePassword"];
    };
    "/api/v1/users/{id}/password-reset": {
        post: operations["createPasswordReset"];
    };
    "/api/v1/auth/password-reset": {
        post: operations["resetPassword"];
    };
    "/api/v1/auth/password-reset/request": {
        post: operations["requestPasswordReset"];
    };
    "/api/v1/invitations": {
        get: operations["listInvitations"];
        post: operations["createInvitation"];
    };
    "/api/v1/invitations/{id}": {
        delete: operations["deleteInvitation"];
    };
    "/api/v1/auth/invitation": {
        post: operations["getInvitation"];
    };
    "/api/v1/auth/invitation/accept": {
        post: operations["acceptInvitation"];
    };
    "/api/v1/organization": {
        get: operations["getOrganization"];
        patch: operations["updateOrganization"];
    };
    "/api/v1/users": {
        get: operations["listUsers"];
    };
    "/api/v1/users/{id}": {
        get: operations["getUser"];
        delete: operations["deleteUser"];
        patch: operations["updateUser"];
    };
    "/api/v1/audit-log": {
        get: operations["listAuditEntries"];
    };
    "/api/v1/api-keys": {
        get: operations["listApiKeys"];
        post: operations["createApiKey"];
    };
    "/api/v1/api-keys/{id}": {
        delete: operations["deleteApiKey"];
    };
    "/api/v1/service-accounts": {
        get: operations["listServiceAccounts"];
        post: operations["createServiceAccount"];
    };
    "/api/v1/service-accounts/{id}": {
        get: operations["getServiceAccount"];
        delete: operations["deleteServiceAccount"];
        patch: operations["updateServiceAccount"];
    };
    "/api/v1/service-accounts/{id}/tokens": {
        get: operations["listServiceTokens"];
        post: operations["createServiceToken"];
    };
    "/api/v1/service-accounts/{id}/tokens/{token_id}": {
        delete: operations["deleteServiceToken"];
    };
    "/api/v1/features": {
        get: operations["listFeatures"];
        post: operations["createFeature"];
    };
    "/api/v1/features/{id}": {
        get: operations["getFeature"];
        delete: operations["deleteFeature"];
        patch: operations["updateFeature"];
    };
    "/api/v1/meters": {
        get: operations["listMeters"];
    };
    "/api/v1/meters/{id}": {
        get: operations["getMeter"];
        patch: operations["updateMeter"];
    };
    "/api/v1/plans": {
        get: operations["listPlans"];
        post: operations["createPlan"];
    };
    "/api/v1/plans/{id}": {
        get: operations["getPlan"];
        delete: operations["deletePlan"];
        patch: operations["updatePlan"];
    };
    "/api/v1/plans/{id}/features": {
        post: operations["addPlanFeature"];
    };
    "/api/v1/plans/{id}/features/{feature_id}": {
        delete: operations["removePlanFeature"];
        patch: operations["updatePlanFeature"];
    };
    "/api/v1/customers": {
        get: operations["listCustomers"];
        post: operations["createCustomer"];
    };
    "/api/v1/customers/{id}": {
        get: operations["getCustomer"];
        delete: operations["deleteCustomer"];
        patch: operations["updateCustomer"];
    };
    "/api/v1/plans/{id}/charges": {
        get: operations["listCharges"];
        post: operations["createCharge"];
    };
    "/api/v1/plans/{id}/charges/{charge_id}": {
        patch: operations["updateCharge"];
    };
    "/api/v1/charges/evaluate": {
        post: operations["evaluateCharge"];
    };
    "/api/v1/billing/settings": {
        get: operations["getBillingSettings"];
        patch: operations["updateBillingSettings"];
    };
    "/api/v1/subscriptions/preview": {
        post: operations["previewSubscription"];
    };
    "/api/v1/subscriptions": {
        get: operations["listSubscriptions"];
        post: operations["createSubscription"];
    };
    "/api/v1/subscriptions/{id}": {
        get: operations["getSubscription"];
        patch: operations["updateSubscription"];
    };
    "/api/v1/subscriptions/{id}/periods": {
        get: operations["listSubscriptionPeriods"];
    };
    "/api/v1/subscriptions/{id}/cancel": {
        post: operations["cancelSubscription"];
    };
    "/api/v1/customers/{id}/credits": {
        get: operations["listCustomerCredits"];
        post: operations["createCredit"];
    };
    "/api/v1/credits/{id}/void": {
        post: operations["voidCredit"];
    };
    "/api/v1/credits": {
        get: operations["listCredits"];
    };
    "/api/v1/credits/balance": {
        get: operations["getCreditBalance"];
    };
    "/api/v1/credits/{id}/entries": {
        get: operations["listCreditEntries"];
    };
    "/api/v1/invoices/{id}/credits": {
        get: operations["listInvoiceCredits"];
    };
    "/api/v1/entitlements": {
        get: operations["listEntitlements"];
    };
    "/api/v1/customers/{id}/entitlements": {
        get: operations["listCustomerEntitlements"];
    };
    "/api/v1/billing-events": {
        get: operations["listBillingEvents"];
    };
    "/api/v1/webhook-endpoints": {
        get: operations["listWebhookEndpoints"];
        post: operations["createWebhookEndpoint"];
    };
    "/api/v1/webhook-endpoints/{id}": {
        get: operations["getWebhookEndpoint"];
        delete: operations["deleteWebhookEndpoint"];
        patch: operations["updateWebhookEndpoint"];
    };
    "/api/v1/webhook-endpoints/{id}/rotate": {
        post: operations["rotateWebhookSecret"];
    };
    "/api/v1/webhook-endpoints/{id}/replay": {
        post: operations["replayWebhooks"];
    };
    "/api/v1/webhook-endpoints/{id}/deliveries": {
        get: operations["listWebhookDeliveries"];
    };
    "/api/v1/webhook-endpoints/{id}/test": {
        post: operations["testWebhookEndpoint"];
    };
    "/api/v1/deliveries/{id}/retry": {
        post: operations["retryWebhookDelivery"];
    };
    "/api/v1/alerts": {
        get: operations["listAlerts"];
        post: operations["createAlert"];
    };
    "/api/v1/alerts/{id}": {
        get: operations["getAlert"];
        delete: operations["deleteAlert"];
        patch: operations["updateAlert"];
    };
    "/api/v1/alerts/{id}/crossings": {
        get: operations["listAlertCrossings"];
    };
    "/api/v1/billing/unbilled-usage": {
        get: operations["listUnbilledUsage"];
    };
    "/api/v1/invoices": {
        get: operations["listInvoices"];
    };
    "/api/v1/subscriptions/{id}/invoices": {
        get: operations["listSubscriptionInvoices"];
    };
    "/api/v1/invoices/{id}": {
        get: operations["getInvoice"];
    };
    "/api/v1/invoices/{id}/lines": {
        get: operations["listLinesOfInvoice"];
        post: operations["addInvoiceLine"];
    };
    "/api/v1/invoices/{id}/recompute": {
        post: operations["recomputeInvoice"];
    };
    "/api/v1/invoices/{id}/pdf": {
        get: operations["getInvoicePdf"];
    };
    "/api/v1/invoices/{id}/finalize": {
        post: operations["finalizeInvoice"];
    };
    "/api/v1/invoices/{id}/void": {
        post: operations["voidInvoice"];
    };
    "/api/v1/invoices/{id}/uncollectible": {
        post: operations["markInvoiceUncollectible"];
    };
    "/api/v1/invoices/{id}/pay": {
        post: operations["payInvoice"];
    };
    "/api/v1/invoices/{id}/payments/{payment_id}": {
        delete: operations["deletePayment"];
    };
    "/api/v1/invoices/finalize": {
        post: operations["finalizeInvoices"];
    };
    "/api/v1/invoices/{id}/lines/{line_id}": {
        get: operations["getInvoiceLine"];
        delete: operations["deleteInvoiceLine"];
    };
    "/api/v1/invoices/{id}/lines/{line_id}/usage": {
        get: operations["getInvoiceLineUsage"];
    };
    "/api/v1/invoices/{id}/lines/{line_id}/events": {
        get: operations["listInvoiceLineEvents"];
    };
    "/api/v1/invoice-lines": {
        get: operations["listInvoiceLines"];
    };
    "/api/v1/subscriptions/{id}/usage": {
        get: operations["getSubscriptionUsage"];
    };
    "/api/v1/subscriptions/{id}/preview-invoice": {
        post: operations["previewInvoice"];
    };
    "/api/v1/subscriptions/{id}/settle": {
        post: operations["settleSubscription"];
    };
    "/api/v1/subscriptions/{id}/change": {
        post: operations["changeSubscriptionPlan"];
    };
    "/api/v1/subscriptions/{id}/preview-change": {
        post: operations["previewPlanChange"];
    };
    "/api/v1/events/{id}": {
        get: operations["getEvent"];
    };
    "/api/v1/events": {
        get: operations["listEvents"];
    };
    "/api/v1/events/rejections": {
        get: operations["listEventRejections"];
    };
    "/api/v1/events/{id}/replay": {
        post: operations["replayEvent"];
    };
    "/api/v1/events/{id}/void": {
        post: operations["voidEvent"];
    };
    "/api/v1/events/{id}/amend": {
        post: operations["amendEvent"];
    };
    "/api/v1/corrections": {
        get: operations["listCorrections"];
        post: operations["createCorrections"];
    };
    "/api/v1/corrections/preview": {
        post: operations["previewCorrections"];
    };
    "/api/v1/overview": {
        get: operations["getOverview"];
    };
    "/api/v1/meters/{id}/usage": {
        get: operations["getMeterUsage"];
    };
    "/api/v1/usage": {
        get: operations["getUsage"];
    };
    "/api/v1/meters/{id}/customers": {
        get: operations["listMeterCustomers"];
    };
    "/api/v1/customers/{id}/usage": {
        get: operations["getCustomerUsage"];
    };
    "/api/v1/erasures": {
        get: operations["listErasures"];
        post: operations["eraseCustomer"];
    };
    "/api/v1/erasures/{id}": {
        get: operations["getErasure"];
    };
    "/api/v1/usage-moves": {
        get: operations["listUsageMoves"];
        post: operations["moveUsage"];
    };
    "/api/v1/usage-moves/{id}": {
        get: operations["getUsageMove"];
    };
    "/api/v1/widget/settings": {
        get: operations["getWidgetSettings"];
        patch: operations["updateWidgetSettings"];
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Account: {
            user: {
                id: string;
                email: string;
                role: "admin" | "viewer";
            };
            organization: {
                id: string;
                name: string;
            };
        };
        AddedInvoiceLine: {
            id: string;
            kind: "FIXED" | "USAGE" | "LATE_USAGE" | "ADJUSTMENT";
            description: string;
            charge_id: string | null;
            charge: components["schemas"]["ChargeTerms"] | null;
            cycle: number | null;
            period_start: string | null;
            period_end: string | null;
            days: string | null;
            quantity: string | null;
            event_count: number | null;
            detail: ({
                up_to: string | null;
                quantity: string;
                exact_amount: string;
            }[] | {
                packages: string;
            }) | null;
            exact_amount: string;
            billed_before: string;
            amount: string;
            waived: string | null;
            closing: number | null;
            rating_version: number;
            invoice_id: string;
        };
        Alert: {
            id: string;
            name: string;
            meter_id: string | null;
            subscription_amount: boolean;
            customer_id: string | null;
            thresholds: string[];
            status: "ACTIVE" | "DISABLED";
            created_at: string;
        };
        AlertCrossing: {
            id: string;
            customer_external_id: string;
            customer_id: string | null;
            customer_name: string | null;
            subscription_id: string | null;
            currency: string | null;
            period_start: string;
            period_end: string;
            time_zone: string;
            threshold: string;
            value: string;
            crossed_at: string;
        };
        ApiKey: {
            id: string;
            name: string;
            scopes: ("usage.write" | "usage.read")[];
            status: "ACTIVE";
            last4: string | null;
            last_used_at: string | null;
            created_at: string;
        };
        AuditEntry: {
            id: string;
            created_at: string;
            action: string;
            resource_type: string;
            resource_id: string | null;
            actor: {
                type: "user" | "service_account" | "api_key" | "operator";
                id: string | null;
                email: string | null;
                name: string | null;
            };
            address: string | null;
            user_agent: string | null;
            changes: {
                [key: string]: unknown;
            } | null;
            outcome: "done" | "unknown";
        };
        BillingEvent: {
            sequence: number;
            type: "invoice.created" | "invoice.finalized" | "invoice.credited" | "invoice.payment_recorded" | "invoice.paid" | "invoice.payment_taken_back" | "invoice.voided" | "invoice.uncollectible" | "invoice.past_due" | "subscription.created" | "subscription.activated" | "subscription.changed" | "subscription.past_due" | "subscription.canceled" | "credit.granted" | "credit.voided" | "usage.unpriced" | "usage.threshold_reached" | "webhook_endpoint.disabled";
            created_at: string;
            actor: string;
            data: {
                [key: string]: unknown;
            };
        };
        BillingSettings: {
            time_zone: string;
            invoice_grace_hours: number;
            payment_terms_days: number;
            invoice_prefix: string;
            invoice_issuer: string | null;
            seller: components["schemas"]["Party"] | null;
            finalize: "automatic" | "manual";
        };
        ChangedUsage: {
            meter_id: string;
            meter_name: string;
            aggregation_type: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
            unit: string | null;
            customer_external_id: string;
            month: string;
            events: number;
            new_events: number;
            before: string | null;
            after: string | null;
        };
        Charge: {
            id: string;
            plan_id: string;
            display_name: string;
            status: "ACTIVE" | "INACTIVE";
            created_at: string;
            effective_from: string;
            ended_at: string | null;
            replaces: string | null;
            type: "FIXED";
            meter_id: null;
            timing: "in_advance" | "in_arrears";
            unit_price: string;
        } | ({
            id: string;
            plan_id: string;
            display_name: string;
            status: "ACTIVE" | "INACTIVE";
            created_at: string;
            effective_from: string;
            ended_at: string | null;
            replaces: string | null;
            type: "USAGE";
            meter_id: string;
            minimum_amount: string | null;
            maximum_amount: string | null;
            model: "per_unit";
            unit_price: string;
            included_units: string | null;
        } | {
            id: string;
            plan_id: string;
            display_name: string;
            status: "ACTIVE" | "INACTIVE";
            created_at: string;
            effective_from: string;
            ended_at: string | null;
            replaces: string | null;
            type: "USAGE";
            meter_id: string;
            minimum_amount: string | null;
            maximum_amount: string | null;
            model: "graduated" | "volume";
            tiers: {
                up_to: string | null;
                unit_price: string;
                flat_fee: string;
            }[];
        } | {
            id: string;
            plan_id: string;
            display_name: string;
            status: "ACTIVE" | "INACTIVE";
            created_at: string;
            effective_from: string;
            ended_at: string | null;
            replaces: string | null;
            type: "USAGE";
            meter_id: string;
            minimum_amount: string | null;
            maximum_amount: string | null;
            model: "package";
            unit_price: string;
            package_size: string;
            included_units: string | null;
        } | {
            id: string;
            plan_id: string;
            display_name: string;
            status: "ACTIVE" | "INACTIVE";
            created_at: string;
            effective_from: string;
            ended_at: string | null;
            replaces: string | null;
            type: "USAGE";
            meter_id: string;
            minimum_amount: string | null;
            maximum_amount: string | null;
            model: "percentage";
            rate: string;
            fixed_amount: string | null;
            included_units: string | null;
        });
        ChargeTerms: {
            display_name: string;
            type: "FIXED";
            meter_id: string | null;
            timing: "in_advance" | "in_arrears";
            unit_price: string;
        } | ({
            display_name: string;
            type: "USAGE";
            meter_id: string | null;
            minimum_amount: string | null;
            maximum_amount: string | null;
            model: "per_unit";
            unit_price: string;
            included_units: string | null;
        } | {
            display_name: string;
            type: "USAGE";
            meter_id: string | null;
            minimum_amount: string | null;
            maximum_amount: string | null;
            model: "graduated" | "volume";
            tiers: {
                up_to: string | null;
                unit_price: string;
                flat_fee: string;
            }[];
        } | {
            display_name: string;
            type: "USAGE";
            meter_id: string | null;
            minimum_amount: string | null;
            maximum_amount: string | null;
            model: "package";
            unit_price: string;
            package_size: string;
            included_units: string | null;
        } | {
            display_name: string;
            type: "USAGE";
            meter_id: string | null;
            minimum_amount: string | null;
            maximum_amount: string | null;
            model: "percentage";
            rate: string;
            fixed_amount: string | null;
            included_units: string | null;
        });
        ChargeUsage: {
            charge_id: string;
            meter_id: string;
            quantity: string;
            amount: string;
        };
        Correction: {
            id: string;
            reason: string;
            amended_by: string | null;
            actor: string;
            created_at: string;
            event_id: string;
        };
        CorrectionMade: {
            id: string;
            amended_by: string | null;
            created_at: string;
            event_id: string;
        };
        CorrectionsPreview: {
            time_zone: string;
            usage: components["schemas"]["ChangedUsage"][];
            usage_total: number;
            invoices: components["schemas"]["TouchedInvoice"][];
            invoices_total: number;
        };
        CreatedApiKey: {
            id: string;
            name: string;
            scopes: ("usage.write" | "usage.read")[];
            status: "ACTIVE";
            last4: string | null;
            last_used_at: string | null;
            created_at: string;
            key: string | null;
        };
        CreatedInvitation: {
            id: string;
            email: string;
            role: "admin" | "viewer";
            expires_at: string;
            created_at: string;
            link: string | null;
            mailed: boolean;
        };
        CreatedServiceToken: {
            id: string;
            name: string;
            last4: string;
            expires_at: string | null;
            last_used_at: string | null;
            created_at: string;
            token: string | null;
        };
        Credit: {
            id: string;
            amount: string;
            currency: string;
            remaining: string;
            priority: number;
            expires_at: string | null;
            note: string | null;
            external_id: string | null;
            status: "ACTIVE" | "USED" | "EXPIRED" | "VOID";
            created_at: string;
        };
        CreditBalance: {
            as_of: string;
            balance: {
                [key: string]: string;
            };
        };
        CreditEntry: {
            id: string;
            kind: "DRAW" | "RETURN" | "VOID";
            amount: string;
            currency: string;
            created_at: string;
            credit_id: string;
            credit_expires_at: string | null;
            credit_voided_at: string | null;
            invoice_id: string | null;
            invoice_number: string | null;
            given_by_invoice_id: string | null;
            given_by_invoice_number: string | null;
        };
        CursorMeta: {
            next_cursor: string | null;
        };
        Customer: {
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
            created_at: string;
            erased_at: string | null;
        };
        CustomerOfMeter: {
            customer_id: string | null;
            customer_external_id: string;
            name: string | null;
            total_usage: string | null;
            event_count: number;
        };
        Entitlement: {
            feature: string;
            type: "meter" | "switch" | "custom";
            has_access: boolean;
            reason: "ok" | "no_subscription" | "not_in_plan" | "disabled" | "limit_reached";
            limit: string | null;
            usage: string | null;
            remaining: string | null;
            overage: string | null;
            is_soft_limit: boolean;
            static_value: string | null;
            period_start: string | null;
            resets_at: string | null;
            as_of: string;
            queued_since: string | null;
        };
        Erasure: {
            id: string;
            status: "RUNNING" | "DONE";
            events: number;
            created_at: string;
            finished_at: string | null;
            customer_id: string | null;
            external_id: string;
            grouped_meter_id: string | null;
        };
        EventCorrection: {
            id: string;
            reason: string;
            amended_by: string | null;
            actor: string;
            created_at: string;
        };
        EventReceipt: {
            id: string;
            status: "queued" | "recorded" | "voided" | "rejected" | "duplicate";
            reason?: string;
            duplicate_of?: string;
            correction?: components["schemas"]["EventCorrection"];
            amends?: string;
            change?: "added" | "removed";
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
            meter_id: string;
            count: number;
            first_at: string;
            last_at: string;
        };
        Feature: {
            id: string;
            name: string;
            lookup_key: string;
            type: "meter" | "switch" | "custom";
            meter_id: string | null;
            meter_token: string | null;
            aggregation_type: ("COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT") | null;
            unit: string | null;
            metadata_keys: string[] | null;
            plan_count: number;
            created_at: string;
        };
        FirstCharge: {
            display_name: string;
            effective_from?: string;
            type: "FIXED";
            timing?: "in_advance" | "in_arrears";
            unit_price: number | string;
        } | ({
            display_name: string;
            effective_from?: string;
            meter_id: string;
            type: "USAGE";
            model?: "per_unit";
            unit_price: number | string;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            display_name: string;
            effective_from?: string;
            meter_id: string;
            type: "USAGE";
            model: "graduated";
            tiers: {
                up_to: (number | string) | null;
                unit_price: number | string;
                flat_fee?: number | string;
            }[];
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            display_name: string;
            effective_from?: string;
            meter_id: string;
            type: "USAGE";
            model: "volume";
            tiers: {
                up_to: (number | string) | null;
                unit_price: number | string;
                flat_fee?: number | string;
            }[];
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            display_name: string;
            effective_from?: string;
            meter_id: string;
            type: "USAGE";
            model: "package";
            unit_price: number | string;
            package_size: number | string;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            display_name: string;
            effective_from?: string;
            meter_id: string;
            type: "USAGE";
            model: "percentage";
            rate: number | string;
            fixed_amount?: (number | string) | null;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        });
        Invitation: {
            id: string;
            email: string;
            role: "admin" | "viewer";
            expires_at: string;
            created_at: string;
        };
        Invoice: {
            id: string;
            invoice_number: string | null;
            kind: "SUBSCRIPTION" | "ADJUSTMENT";
            status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
            customer_id: string;
            subscription_id: string;
            cycle: number | null;
            currency: string;
            issue_date: string | null;
            due_date: string | null;
            period_start: string;
            period_end: string;
            subtotal: string;
            tax: string;
            total: string;
            credits_applied: string;
            amount_paid: string;
            amount_due: string;
            finalizes_at: string | null;
            finalized_at: string | null;
            paid_at: string | null;
            reference: string | null;
            note: string | null;
            customer: {
                [key: string]: unknown;
            } | null;
            issuer: string | null;
            is_past_due: boolean;
            rebilled: boolean;
            seller: components["schemas"]["Party"] | null;
            buyer: components["schemas"]["Party"] | null;
            created_at: string;
            computed_at: string | null;
            not_computed: components["schemas"]["NotComputed"] | null;
        };
        InvoiceLine: {
            id: string;
            kind: "FIXED" | "USAGE" | "LATE_USAGE" | "ADJUSTMENT";
            description: string;
            charge_id: string | null;
            charge: components["schemas"]["ChargeTerms"] | null;
            cycle: number | null;
            period_start: string | null;
            period_end: string | null;
            days: string | null;
            quantity: string | null;
            event_count: number | null;
            detail: ({
                up_to: string | null;
                quantity: string;
                exact_amount: string;
            }[] | {
                packages: string;
            }) | null;
            exact_amount: string;
            billed_before: string;
            amount: string;
            waived: string | null;
            closing: number | null;
            rating_version: number;
        };
        InvoicePreview: {
            kind: "SUBSCRIPTION" | "ADJUSTMENT";
            status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
            customer_id: string;
            subscription_id: string;
            cycle: number | null;
            currency: string;
            issue_date: string | null;
            due_date: string | null;
            period_start: string;
            period_end: string;
            subtotal: string;
            tax: string;
            total: string;
            credits_applied: string;
            amount_paid: string;
            amount_due: string;
            finalizes_at: string | null;
            finalized_at: string | null;
            paid_at: string | null;
            reference: string | null;
            note: string | null;
            customer: {
                [key: string]: unknown;
            } | null;
            issuer: string | null;
            is_past_due: boolean;
            rebilled: boolean;
            seller: components["schemas"]["Party"] | null;
            buyer: components["schemas"]["Party"] | null;
            created_at: string;
            computed_at: string | null;
            lines: {
                kind: "FIXED" | "USAGE" | "LATE_USAGE" | "ADJUSTMENT";
                description: string;
                charge_id: string | null;
                charge: components["schemas"]["ChargeTerms"] | null;
                cycle: number | null;
                period_start: string | null;
                period_end: string | null;
                days: string | null;
                quantity: string | null;
                event_count: number | null;
                detail: ({
                    up_to: string | null;
                    quantity: string;
                    exact_amount: string;
                }[] | {
                    packages: string;
                }) | null;
                exact_amount: string;
                billed_before: string;
                amount: string;
                waived: string | null;
                closing: number | null;
                rating_version: number;
            }[];
            lines_total?: number;
        };
        InvoiceWithLines: {
            id: string;
            invoice_number: string | null;
            kind: "SUBSCRIPTION" | "ADJUSTMENT";
            status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
            customer_id: string;
            subscription_id: string;
            cycle: number | null;
            currency: string;
            issue_date: string | null;
            due_date: string | null;
            period_start: string;
            period_end: string;
            subtotal: string;
            tax: string;
            total: string;
            credits_applied: string;
            amount_paid: string;
            amount_due: string;
            finalizes_at: string | null;
            finalized_at: string | null;
            paid_at: string | null;
            reference: string | null;
            note: string | null;
            customer: {
                [key: string]: unknown;
            } | null;
            issuer: string | null;
            is_past_due: boolean;
            rebilled: boolean;
            seller: components["schemas"]["Party"] | null;
            buyer: components["schemas"]["Party"] | null;
            created_at: string;
            computed_at: string | null;
            lines: components["schemas"]["InvoiceLine"][];
            payments: components["schemas"]["Payment"][];
            lines_total?: number;
            lines_next_cursor?: string;
        };
        LineUsage: {
            meter_id: string | null;
            aggregation_type: ("COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT") | null;
            unit: string | null;
            total_usage: string | null;
            event_count: number;
            unique_customers: number;
            period_start: string | null;
            period_end: string | null;
            overflow_event_count?: number;
            grouped_data: {
                period: string;
                period_start: string;
                usage: string | null;
                event_count: number;
            }[];
            groups?: {
                value: string | null;
                is_rest: boolean;
                total_usage: string | null;
                event_count: number;
                grouped_data: {
                    period: string;
                    period_start: string;
                    usage: string | null;
                    event_count: number;
                }[];
            }[];
        };
        ListedCredit: {
            id: string;
            amount: string;
            currency: string;
            remaining: string;
            priority: number;
            expires_at: string | null;
            note: string | null;
            external_id: string | null;
            status: "ACTIVE" | "USED" | "EXPIRED" | "VOID";
            created_at: string;
            customer_id: string;
            invoice_id: string | null;
        };
        ListedLine: {
            invoice_id: string;
            invoice_number: string;
            invoice_status: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
            issue_date: string;
            customer_id: string;
            customer_external_id: string | null;
            customer_name: string | null;
            subscription_id: string;
            currency: string;
            id: string;
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
            id: string;
            name: string;
            meter_token: string;
            aggregation_type: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
            unit: string | null;
            status: "ACTIVE" | "ARCHIVED";
            metadata_keys: string[];
            feature_id: string | null;
            created_at: string;
        };
        MeterOfCustomer: {
            meter_id: string;
            name: string;
            meter_token: string;
            aggregation_type: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
            unit: string | null;
            status: "ACTIVE" | "ARCHIVED";
            total_usage: string | null;
            event_count: number;
        };
        MeterUsage: {
            meter_id: string;
            aggregation_type: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
            unit: string | null;
            total_usage: string | null;
            event_count: number;
            unique_customers: number;
            period_start: string;
            period_end: string;
            overflow_event_count?: number;
            grouped_data: {
                period: string;
                period_start: string;
                usage: string | null;
                event_count: number;
            }[];
            groups?: {
                value: string | null;
                is_rest: boolean;
                total_usage: string | null;
                event_count: number;
                grouped_data: {
                    period: string;
                    period_start: string;
                    usage: string | null;
                    event_count: number;
                }[];
            }[];
        };
        NewCharge: {
            display_name: string;
            replaces?: string;
            effective_from?: string;
            type: "FIXED";
            timing?: "in_advance" | "in_arrears";
            unit_price: number | string;
        } | ({
            display_name: string;
            replaces?: string;
            effective_from?: string;
            meter_id: string;
            type: "USAGE";
            model?: "per_unit";
            unit_price: number | string;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            display_name: string;
            replaces?: string;
            effective_from?: string;
            meter_id: string;
            type: "USAGE";
            model: "graduated";
            tiers: {
                up_to: (number | string) | null;
                unit_price: number | string;
                flat_fee?: number | string;
            }[];
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            display_name: string;
            replaces?: string;
            effective_from?: string;
            meter_id: string;
            type: "USAGE";
            model: "volume";
            tiers: {
                up_to: (number | string) | null;
                unit_price: number | string;
                flat_fee?: number | string;
            }[];
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            display_name: string;
            replaces?: string;
            effective_from?: string;
            meter_id: string;
            type: "USAGE";
            model: "package";
            unit_price: number | string;
            package_size: number | string;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            display_name: string;
            replaces?: string;
            effective_from?: string;
            meter_id: string;
            type: "USAGE";
            model: "percentage";
            rate: number | string;
            fixed_amount?: (number | string) | null;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        });
        NotComputed: {
            code: string;
            detail: string;
        };
        Organization: {
            id: string;
            name: string;
            created_at: string;
        };
        Overview: {
            period_start: string;
            time_zone: string;
            period_end: string;
            events: {
                recorded: number | null;
                previous: number | null;
                days: {
                    start: string;
                    recorded: number | null;
                    previous: number | null;
                }[] | null;
            };
            top_meters: {
                meter_id: string;
                name: string;
                unit: string | null;
                aggregation_type: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
                usage: string | null;
                event_count: number;
            }[] | null;
            top_customers: {
                customer_external_id: string;
                customer_id: string | null;
                name: string | null;
                event_count: number;
            }[] | null;
            rejected: {
                count: number;
            };
            waiting: {
                events: number;
                oldest_seconds: number | null;
            } | null;
            invoices: {
                currency: string;
                draft_count: number;
                open_count: number;
                open_amount: string;
                past_due_count: number;
                past_due_amount: string;
                finalized_total: string;
                finalized_before: string;
                top_customers: {
                    customer_id: string;
                    external_id: string;
                    name: string | null;
                    finalized_total: string;
                }[];
            }[];
            has_uncounted_invoices: boolean;
            expected: {
                began_at: string;
                ended_at: string;
                currencies: {
                    currency: string;
                    drafts: string;
                    open_periods: string;
                    rebilled: string;
                    total: string;
                    left_out: number;
                }[];
            } | null;
        };
        PageMeta: {
            page: number;
            page_size: number;
            total: number;
            total_pages: number;
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
            country: string | null;
        };
        PasswordReset: {
            link: string | null;
            mailed: boolean;
            expires_at: string;
        };
        Payment: {
            id: string;
            amount: string;
            paid_at: string;
            reference: string | null;
            created_at: string;
            taken_back_at: string | null;
            note: string | null;
        };
        Plan: {
            id: string;
            name: string;
            lookup_id: string;
            type: "FIXED" | "USAGE" | "HYBRID";
            billing_interval: "day" | "week" | "month" | "year";
            currency: string;
            is_active: boolean;
            trial_days: number;
            description: string | null;
            created_at: string;
        };
        PlanChangePreview: {
            invoice: components["schemas"]["InvoicePreview"] | null;
            draft: {
                id: string | null;
                amount: string;
            } | null;
        };
        PlanFeature: {
            feature_id: string;
            is_enabled: boolean;
            usage_limit: string | null;
            usage_reset_period: ("hour" | "day" | "week" | "month" | "year") | null;
            is_soft_limit: boolean;
            static_value: string | null;
            created_at: string;
        };
        PlanWithFeatures: {
            id: string;
            name: string;
            lookup_id: string;
            type: "FIXED" | "USAGE" | "HYBRID";
            billing_interval: "day" | "week" | "month" | "year";
            currency: string;
            is_active: boolean;
            trial_days: number;
            description: string | null;
            created_at: string;
            features: components["schemas"]["PlanFeature"][];
            charges: components["schemas"]["Charge"][];
            ended_charges_total?: number;
        };
        Recomputation: {
            invoice_id: string;
            invoice_number: string;
            from: "rollups" | "events";
            identical: boolean;
            stored: {
                lines: components["schemas"]["InvoiceLine"][];
                subtotal: string;
                total: string;
            };
            recomputed: {
                lines: components["schemas"]["InvoiceLine"][];
                subtotal: string;
                total: string;
            };
            lines_total?: number;
        };
        ServiceAccount: {
            id: string;
            name: string;
            role: "viewer" | "biller" | "admin";
            token_count: number;
            last_used_at: string | null;
            created_at: string;
        };
        ServiceToken: {
            id: string;
            name: string;
            last4: string;
            expires_at: string | null;
            last_used_at: string | null;
            created_at: string;
        };
        Session: {
            id: string;
            created_at: string;
            last_used_at: string;
            address: string | null;
            user_agent: string | null;
            is_current: boolean;
        };
        SignInOptions: {
            sign_up: boolean;
            password_mail: boolean;
        };
        Subscription: {
            id: string;
            external_id: string | null;
            customer_id: string;
            customer_external_id: string;
            plan_id: string;
            plan_name: string;
            pending_plan_id: string | null;
            status: "SCHEDULED" | "TRIAL" | "ACTIVE" | "PAST_DUE" | "CANCELED";
            start_date: string;
            trial_end_date: string | null;
            time_zone: string;
            currency: string;
            billing_interval: "day" | "week" | "month" | "year";
            billing_alignment: "anniversary" | "calendar";
            cycle: number | null;
            periods_to_open: number;
            current_period_start: string;
            current_period_end: string;
            cancel_at_period_end: boolean;
            cancel_reason: string | null;
            canceled_at: string | null;
            ended_at: string | null;
            created_at: string;
        };
        SubscriptionPreview: {
            status: "SCHEDULED" | "TRIAL" | "ACTIVE" | "PAST_DUE" | "CANCELED";
            time_zone: string;
            periods: number;
            invoices: number;
            first_period_start: string | null;
            first_period_end: string | null;
            last_period_end: string | null;
            finalizes_at: string | null;
            current_period_start: string;
            current_period_end: string;
        };
        SubscriptionWithEntitlements: {
            id: string;
            external_id: string | null;
            customer_id: string;
            customer_external_id: string;
            plan_id: string;
            plan_name: string;
            pending_plan_id: string | null;
            status: "SCHEDULED" | "TRIAL" | "ACTIVE" | "PAST_DUE" | "CANCELED";
            start_date: string;
            trial_end_date: string | null;
            time_zone: string;
            currency: string;
            billing_interval: "day" | "week" | "month" | "year";
            billing_alignment: "anniversary" | "calendar";
            cycle: number | null;
            periods_to_open: number;
            current_period_start: string;
            current_period_end: string;
            cancel_at_period_end: boolean;
            cancel_reason: string | null;
            canceled_at: string | null;
            ended_at: string | null;
            created_at: string;
            entitlements: components["schemas"]["Entitlement"][];
            is_rebilling: boolean;
        };
        System: {
            postgres: "ok" | "away";
            redis: "ok" | "away";
            way: "redis" | "direct";
            worker: {
                last_seen_at: string | null;
            };
            waiting: {
                events: number;
                oldest_seconds: number | null;
            } | null;
            reconcile: {
                finished_at: string;
                is_equal: boolean;
                problems: number;
            } | null;
            version: string;
            revision: string;
        };
        TouchedInvoice: {
            effect: "LATE_USAGE" | "AT_ONCE";
            invoice_id: string | null;
            invoice_number: string | null;
            status: ("DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE") | null;
            subscription_id: string;
            customer_external_id: string;
            time_zone: string;
            period_start: string;
            period_end: string;
            events: number;
            new_events: number;
        };
        TriedCharge: {
            display_name?: string;
            type: "FIXED";
            timing?: "in_advance" | "in_arrears";
            unit_price: number | string;
        } | ({
            display_name?: string;
            meter_id?: string;
            type: "USAGE";
            model?: "per_unit";
            unit_price: number | string;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            display_name?: string;
            meter_id?: string;
            type: "USAGE";
            model: "graduated";
            tiers: {
                up_to: (number | string) | null;
                unit_price: number | string;
                flat_fee?: number | string;
            }[];
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            display_name?: string;
            meter_id?: string;
            type: "USAGE";
            model: "volume";
            tiers: {
                up_to: (number | string) | null;
                unit_price: number | string;
                flat_fee?: number | string;
            }[];
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            display_name?: string;
            meter_id?: string;
            type: "USAGE";
            model: "package";
            unit_price: number | string;
            package_size: number | string;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        } | {
            display_name?: string;
            meter_id?: string;
            type: "USAGE";
            model: "percentage";
            rate: number | string;
            fixed_amount?: (number | string) | null;
            included_units?: (number | string) | null;
            minimum_amount?: (number | string) | null;
            maximum_amount?: (number | string) | null;
        });
        UnbilledUsage: {
            meter_id: string;
            meter_name: string;
            reason: "price_ended" | "not_in_plan" | "after_end" | "no_subscription";
            events: number;
            customers: number;
            since: string;
            until: string;
        };
        UsageMove: {
            id: string;
            status: "RUNNING" | "DONE";
            events: number;
            created_at: string;
            finished_at: string | null;
            from_external_id: string;
            to_external_id: string;
        };
        User: {
            id: string;
            email: string;
            role: "admin" | "viewer";
            created_at: string;
            last_seen_at: string | null;
        };
        WebhookAttempt: {
            at: string;
            status: number | null;
            ms: number;
            error: string | null;
            answer: string | null;
        };
        WebhookDelivery: {
            id: string;
            endpoint_id: string;
            type: "invoice.created" | "invoice.finalized" | "invoice.credited" | "invoice.payment_recorded" | "invoice.paid" | "invoice.payment_taken_back" | "invoice.voided" | "invoice.uncollectible" | "invoice.past_due" | "subscription.created" | "subscription.activated" | "subscription.changed" | "subscription.past_due" | "subscription.canceled" | "credit.granted" | "credit.voided" | "usage.unpriced" | "usage.threshold_reached" | "webhook_endpoint.disabled" | "webhook.test";
            sequence: number | null;
            status: "PENDING" | "DELIVERED" | "FAILED";
            attempt_count: number;
            attempts: components["schemas"]["WebhookAttempt"][];
            next_attempt_at: string | null;
            delivered_at: string | null;
            created_at: string;
        };
        WebhookEndpoint: {
            id: string;
            url: string;
            event_types: ("invoice.created" | "invoice.finalized" | "invoice.credited" | "invoice.payment_recorded" | "invoice.paid" | "invoice.payment_taken_back" | "invoice.voided" | "invoice.uncollectible" | "invoice.past_due" | "subscription.created" | "subscription.activated" | "subscription.changed" | "subscription.past_due" | "subscription.canceled" | "credit.granted" | "credit.voided" | "usage.unpriced" | "usage.threshold_reached" | "webhook_endpoint.disabled")[] | null;
            status: "ACTIVE" | "DISABLED";
            disabled_reason: ("FAILING" | "GONE") | null;
            last_sequence: number;
            replay: {
                next_sequence: number;
                last_sequence: number;
            } | null;
            failing_since: string | null;
            previous_secret_until: string | null;
            created_at: string;
        };
        WebhookEndpointWithSecret: {
            id: string;
            url: string;
            event_types: ("invoice.created" | "invoice.finalized" | "invoice.credited" | "invoice.payment_recorded" | "invoice.paid" | "invoice.payment_taken_back" | "invoice.voided" | "invoice.uncollectible" | "invoice.past_due" | "subscription.created" | "subscription.activated" | "subscription.changed" | "subscription.past_due" | "subscription.canceled" | "credit.granted" | "credit.voided" | "usage.unpriced" | "usage.threshold_reached" | "webhook_endpoint.disabled")[] | null;
            status: "ACTIVE" | "DISABLED";
            disabled_reason: ("FAILING" | "GONE") | null;
            last_sequence: number;
            replay: {
                next_sequence: number;
                last_sequence: number;
            } | null;
            failing_since: string | null;
            previous_secret_until: string | null;
            created_at: string;
            secret: string | null;
        };
        WidgetSettings: {
            meter_ids: string[] | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getHealth: {
        responses: {
            200: {
                content: {
                    "application/json": {
                        status: "ok";
                    };
                };
            };
        };
    };
    getReadiness: {
        responses: {
            200: {
                content: {
                    "application/json": {
                        status: "ok";
                        redis: "ok" | "away";
                        postgres: "ok" | "away";
                        way: "redis" | "direct";
                        schema: {
                            needs: string;
                            found: string | null;
                        } | null;
                    };
                };
            };
        };
    };
    getVersion: {
        responses: {
            200: {
                content: {
                    "application/json": {
                        version: string;
                        revision: string;
                    };
                };
            };
        };
    };
    getSystem: {
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["System"];
                };
            };
        };
    };
    getSignInOptions: {
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SignInOptions"];
                };
            };
        };
    };
    signUp: {
        requestBody: {
            content: {
                "application/json": {
                    email: string;
                    password: string;
                    organization_name: string;
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    signIn: {
        requestBody: {
            content: {
                "application/json": {
                    email: string;
                    password: string;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    signOut: {
        responses: {
            204: {
            };
        };
    };
    getAccount: {
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Session"][];
                        meta: components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    deleteOtherSessions: {
        responses: {
            204: {
            };
        };
    };
    deleteSession: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            204: {
            };
        };
    };
    changePassword: {
        requestBody: {
            content: {
                "application/json": {
                    current_password: string;
                    new_password: string;
                };
            };
        };
        responses: {
            204: {
            };
        };
    };
    createPasswordReset: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["PasswordReset"];
                };
            };
        };
    };
    resetPassword: {
        requestBody: {
            content: {
                "application/json": {
                    token: string;
                    new_password: string;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
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
            202: {
                content: {
                    "application/json": {
                        status: "accepted";
                    };
                };
            };
        };
    };
    listInvitations: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Invitation"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    createInvitation: {
        requestBody: {
            content: {
                "application/json": {
                    email: string;
                    role: "admin" | "viewer";
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["CreatedInvitation"];
                };
            };
        };
    };
    deleteInvitation: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            204: {
            };
        };
    };
    getInvitation: {
        requestBody: {
            content: {
                "application/json": {
                    token: string;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        email: string;
                        organization_name: string;
                        role: "admin" | "viewer";
                        expires_at: string;
                    };
                };
            };
        };
    };
    acceptInvitation: {
        requestBody: {
            content: {
                "application/json": {
                    token: string;
                    password: string;
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    getOrganization: {
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Organization"];
                };
            };
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
            200: {
                content: {
                    "application/json": components["schemas"]["Organization"];
                };
            };
        };
    };
    listUsers: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["User"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    getUser: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    deleteUser: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            204: {
            };
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
                    role: "admin" | "viewer";
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    listAuditEntries: {
        parameters: {
            query?: {
                user_id?: string;
                actor_id?: string;
                action?: string;
                resource_id?: string;
                start_date?: string;
                end_date?: string;
                cursor?: string;
                limit?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["AuditEntry"][];
                        meta: components["schemas"]["CursorMeta"];
                        kept_days: number | null;
                    };
                };
            };
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["ApiKey"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
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
            201: {
                content: {
                    "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
        };
    };
    deleteApiKey: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            204: {
            };
        };
    };
    listServiceAccounts: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["ServiceAccount"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    createServiceAccount: {
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    role: "viewer" | "biller" | "admin";
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["ServiceAccount"];
                };
            };
        };
    };
    getServiceAccount: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ServiceAccount"];
                };
            };
        };
    };
    deleteServiceAccount: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            204: {
            };
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
                    role?: "viewer" | "biller" | "admin";
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ServiceAccount"];
                };
            };
        };
    };
    listServiceTokens: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["ServiceToken"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
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
                    expires_at?: string | null;
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["CreatedServiceToken"];
                };
            };
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
            204: {
            };
        };
    };
    listFeatures: {
        parameters: {
            query?: {
                search?: string;
                type?: "meter" | "switch" | "custom";
                aggregation_type?: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
                sort?: "created_at" | "-created_at" | "name" | "-name";
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Feature"][];
                        meta?: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    createFeature: {
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    lookup_key: string;
                    type: "meter";
                    aggregation_type: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
                    unit?: string | null;
                    metadata_keys?: string[];
                } | {
                    name: string;
                    lookup_key: string;
                    type: "switch" | "custom";
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["Feature"];
                };
            };
        };
    };
    getFeature: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Feature"];
                };
            };
        };
    };
    deleteFeature: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            204: {
            };
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
            200: {
                content: {
                    "application/json": components["schemas"]["Feature"];
                };
            };
        };
    };
    listMeters: {
        parameters: {
            query?: {
                search?: string;
                status?: "ACTIVE" | "ARCHIVED";
                aggregation_type?: "COUNT" | "SUM" | "MAX" | "MIN" | "AVG" | "LAST" | "UNIQUE_COUNT";
                sort?: "created_at" | "-created_at" | "name" | "-name";
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Meter"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    getMeter: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Meter"];
                };
            };
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
                    status?: "ACTIVE" | "ARCHIVED";
                    metadata_keys?: string[];
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Meter"];
                };
            };
        };
    };
    listPlans: {
        parameters: {
            query?: {
                sort?: "created_at" | "-created_at" | "name" | "-name";
                search?: string;
                type?: "FIXED" | "USAGE" | "HYBRID";
                billing_interval?: "day" | "week" | "month" | "year";
                currency?: string;
                is_active?: "true" | "false";
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Plan"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    createPlan: {
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    lookup_id: string;
                    type: "FIXED" | "USAGE" | "HYBRID";
                    billing_interval: "day" | "week" | "month" | "year";
                    currency: string;
                    trial_days?: number;
                    description?: string | null;
                    is_active?: boolean;
                    charges?: components["schemas"]["FirstCharge"][];
                    features?: {
                        feature_id: string;
                        is_enabled?: boolean;
                        usage_limit?: (number | string) | null;
                        usage_reset_period?: ("hour" | "day" | "week" | "month" | "year") | null;
                        is_soft_limit?: boolean;
                        static_value?: string | null;
                    }[];
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
        };
    };
    getPlan: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["PlanWithFeatures"];
                };
            };
        };
    };
    deletePlan: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            204: {
            };
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
                    type?: "FIXED" | "USAGE" | "HYBRID";
                    billing_interval?: "day" | "week" | "month" | "year";
                    currency?: string;
                    trial_days?: number;
                    description?: string | null;
                    is_active?: boolean;
                    update_charges?: {
                        id: string;
                        display_name?: string;
                        status?: "ACTIVE" | "INACTIVE";
                    }[];
                    add_charges?: components["schemas"]["NewCharge"][];
                    remove_features?: string[];
                    put_features?: {
                        feature_id: string;
                        is_enabled?: boolean;
                        usage_limit?: (number | string) | null;
                        usage_reset_period?: ("hour" | "day" | "week" | "month" | "year") | null;
                        is_soft_limit?: boolean;
                        static_value?: string | null;
                    }[];
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
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
                    feature_id: string;
                    is_enabled?: boolean;
                    usage_limit?: (number | string) | null;
                    usage_reset_period?: ("hour" | "day" | "week" | "month" | "year") | null;
                    is_soft_limit?: boolean;
                    static_value?: string | null;
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["PlanFeature"];
                };
            };
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
            204: {
            };
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
                    usage_reset_period?: ("hour" | "day" | "week" | "month" | "year") | null;
                    is_soft_limit?: boolean;
                    static_value?: string | null;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["PlanFeature"];
                };
            };
        };
    };
    listCustomers: {
        parameters: {
            query?: {
                search?: string;
                external_id?: string;
                sort?: "created_at" | "-created_at" | "name" | "-name";
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Customer"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    createCustomer: {
        requestBody: {
            content: {
                "application/json": {
                    external_id?: string;
                    name?: string | null;
                    email?: string | null;
                    phone?: string | null;
                    legal_name?: string | null;
                    tax_id?: string | null;
                    billing_address_line1?: string | null;
                    billing_address_line2?: string | null;
                    billing_address_city?: string | null;
                    billing_address_state?: string | null;
                    billing_address_country?: string | null;
                    billing_country_code?: string | null;
                    billing_address_postal_code?: string | null;
                    metadata?: {
                        [key: string]: unknown;
                    };
                    time_zone?: string | null;
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["Customer"];
                };
            };
        };
    };
    getCustomer: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Customer"];
                };
            };
        };
    };
    deleteCustomer: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            204: {
            };
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
                    external_id?: string;
                    name?: string | null;
                    email?: string | null;
                    phone?: string | null;
                    legal_name?: string | null;
                    tax_id?: string | null;
                    billing_address_line1?: string | null;
                    billing_address_line2?: string | null;
                    billing_address_city?: string | null;
                    billing_address_state?: string | null;
                    billing_address_country?: string | null;
                    billing_country_code?: string | null;
                    billing_address_postal_code?: string | null;
                    metadata?: {
                        [key: string]: unknown;
                    };
                    time_zone?: string | null;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Customer"];
                };
            };
        };
    };
    listCharges: {
        parameters: {
            query?: {
                status?: "ACTIVE" | "INACTIVE";
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Charge"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
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
            201: {
                content: {
                    "application/json": components["schemas"]["Charge"];
                };
            };
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
                    status?: "ACTIVE" | "INACTIVE";
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Charge"];
                };
            };
        };
    };
    evaluateCharge: {
        requestBody: {
            content: {
                "application/json": {
                    currency: string;
                    charge: components["schemas"]["TriedCharge"];
                    quantity?: number | string;
                    event_count?: number;
                    days_in_force?: number;
                    days_in_period?: number;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        exact_amount: string;
                        amount: string;
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
        };
    };
    getBillingSettings: {
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["BillingSettings"];
                };
            };
        };
    };
    updateBillingSettings: {
        requestBody: {
            content: {
                "application/json": {
                    time_zone?: string;
                    invoice_grace_hours?: number;
                    payment_terms_days?: number;
                    invoice_prefix?: string;
                    invoice_issuer?: string | null;
                    seller?: {
                        legal_name: string;
                        tax_id?: string | null;
                        address_line1?: string | null;
                        address_line2?: string | null;
                        city?: string | null;
                        state?: string | null;
                        postal_code?: string | null;
                        country?: string | null;
                    } | null;
                    finalize?: "automatic" | "manual";
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["BillingSettings"];
                };
            };
        };
    };
    previewSubscription: {
        requestBody: {
            content: {
                "application/json": {
                    customer_id?: string;
                    customer_external_id?: string;
                    plan_id: string;
                    external_id?: string | null;
                    start_date?: string;
                    billing_interval?: "day" | "week" | "month" | "year";
                    billing_alignment?: "anniversary" | "calendar";
                    trial_end_date?: string | null;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SubscriptionPreview"];
                };
            };
        };
    };
    listSubscriptions: {
        parameters: {
            query?: {
                customer_id?: string;
                plan_id?: string;
                external_id?: string;
                status?: "SCHEDULED" | "TRIAL" | "ACTIVE" | "PAST_DUE" | "CANCELED";
                has_run_error?: "true" | "false";
                sort?: "created_at" | "-created_at";
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Subscription"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    createSubscription: {
        requestBody: {
            content: {
                "application/json": {
                    customer_id?: string;
                    customer_external_id?: string;
                    plan_id: string;
                    external_id?: string | null;
                    start_date?: string;
                    billing_interval?: "day" | "week" | "month" | "year";
                    billing_alignment?: "anniversary" | "calendar";
                    trial_end_date?: string | null;
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
        };
    };
    getSubscription: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SubscriptionWithEntitlements"];
                };
            };
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
                    cancel_at_period_end?: false;
                    pending_plan_id?: null;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
        };
    };
    listSubscriptionPeriods: {
        parameters: {
            query?: {
                count?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: {
                            cycle: number;
                            plan_id: string;
                            period_start: string;
                            period_end: string;
                            days: string | null;
                        }[];
                    };
                };
            };
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
                    cancel_at_period_end?: boolean;
                    reason?: string | null;
                } | null;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
        };
    };
    listCustomerCredits: {
        parameters: {
            query?: {
                as_of?: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        balance: {
                            [key: string]: string;
                        };
                        grants: components["schemas"]["Credit"][];
                        grants_total?: number;
                    };
                };
            };
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
                    amount: number | string;
                    currency: string;
                    expires_at?: string | null;
                    priority?: number;
                    note?: string | null;
                    external_id?: string | null;
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["Credit"];
                };
            };
        };
    };
    voidCredit: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Credit"];
                };
            };
        };
    };
    listCredits: {
        parameters: {
            query?: {
                customer_id?: string;
                currency?: string;
                status?: "ACTIVE" | "USED" | "EXPIRED" | "VOID";
                as_of?: string;
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["ListedCredit"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    getCreditBalance: {
        parameters: {
            query?: {
                customer_id?: string;
                currency?: string;
                as_of?: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["CreditBalance"];
                };
            };
        };
    };
    listCreditEntries: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["CreditEntry"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    listInvoiceCredits: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["CreditEntry"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    listEntitlements: {
        parameters: {
            query: {
                customer_external_id: string;
                feature?: string;
                quantity?: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Entitlement"] | {
                        data: components["schemas"]["Entitlement"][];
                    };
                };
            };
        };
    };
    listCustomerEntitlements: {
        parameters: {
            query?: {
                feature?: string;
                quantity?: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Entitlement"] | {
                        data: components["schemas"]["Entitlement"][];
                    };
                };
            };
        };
    };
    listBillingEvents: {
        parameters: {
            query?: {
                cursor?: number;
                limit?: number;
                after?: number;
            };
        };
        responses: {
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
        };
    };
    listWebhookEndpoints: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookEndpoint"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    createWebhookEndpoint: {
        requestBody: {
            content: {
                "application/json": {
                    url: string;
                    event_types?: ("invoice.created" | "invoice.finalized" | "invoice.credited" | "invoice.payment_recorded" | "invoice.paid" | "invoice.payment_taken_back" | "invoice.voided" | "invoice.uncollectible" | "invoice.past_due" | "subscription.created" | "subscription.activated" | "subscription.changed" | "subscription.past_due" | "subscription.canceled" | "credit.granted" | "credit.voided" | "usage.unpriced" | "usage.threshold_reached" | "webhook_endpoint.disabled")[] | null;
                    status?: "ACTIVE" | "DISABLED";
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWithSecret"];
                };
            };
        };
    };
    getWebhookEndpoint: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    deleteWebhookEndpoint: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            204: {
            };
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
                    url?: string;
                    event_types?: ("invoice.created" | "invoice.finalized" | "invoice.credited" | "invoice.payment_recorded" | "invoice.paid" | "invoice.payment_taken_back" | "invoice.voided" | "invoice.uncollectible" | "invoice.past_due" | "subscription.created" | "subscription.activated" | "subscription.changed" | "subscription.past_due" | "subscription.canceled" | "credit.granted" | "credit.voided" | "usage.unpriced" | "usage.threshold_reached" | "webhook_endpoint.disabled")[] | null;
                    status?: "ACTIVE" | "DISABLED";
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWithSecret"];
                };
            };
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
                    from: number | string;
                    to?: number | string;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                status?: "PENDING" | "DELIVERED" | "FAILED";
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookDelivery"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    testWebhookEndpoint: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    retryWebhookDelivery: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    listAlerts: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Alert"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    createAlert: {
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    meter_id?: string;
                    subscription_amount?: boolean;
                    customer_id?: string;
                    thresholds: (number | string)[];
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
        };
    };
    getAlert: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
        };
    };
    deleteAlert: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            204: {
            };
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
                    thresholds?: (number | string)[];
                    status?: "ACTIVE" | "DISABLED";
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
        };
    };
    listAlertCrossings: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["AlertCrossing"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    listUnbilledUsage: {
        parameters: {
            query?: {
                month?: string;
                is_told?: "true" | "false";
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["UnbilledUsage"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    listInvoices: {
        parameters: {
            query?: {
                customer_id?: string;
                subscription_id?: string;
                invoice_number?: string;
                search?: string;
                status?: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
                from?: string;
                to?: string;
                issued_from?: string;
                issued_to?: string;
                is_past_due?: "true" | "false";
                sort?: "created_at" | "-created_at" | "issue_date" | "-issue_date";
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Invoice"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    listSubscriptionInvoices: {
        parameters: {
            query?: {
                status?: "DRAFT" | "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
                from?: string;
                to?: string;
                issued_from?: string;
                issued_to?: string;
                is_past_due?: "true" | "false";
                sort?: "created_at" | "-created_at" | "issue_date" | "-issue_date";
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Invoice"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    getInvoice: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["InvoiceWithLines"];
                };
            };
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
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["InvoiceLine"][];
                        meta: components["schemas"]["CursorMeta"];
                    };
                };
            };
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
                    amount: number | string;
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["AddedInvoiceLine"];
                };
            };
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
                    from?: "rollups" | "events";
                } | null;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Recomputation"];
                };
            };
        };
    };
    getInvoicePdf: {
        parameters: {
            query?: {
                as?: "issued" | "now";
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/pdf": string;
                };
            };
        };
    };
    finalizeInvoice: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["InvoiceWithLines"];
                };
            };
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
                    note?: string | null;
                    rebill?: boolean;
                } | null;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["InvoiceWithLines"];
                };
            };
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
                    note?: string | null;
                } | null;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["InvoiceWithLines"];
                };
            };
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
                    paid_at?: string | null;
                    reference?: string | null;
                } | null;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["InvoiceWithLines"];
                };
            };
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
                    note?: string | null;
                } | null;
            };
        };
        responses: {
            204: {
            };
        };
    };
    finalizeInvoices: {
        requestBody: {
            content: {
                "application/json": {
                    ids: string[];
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: {
                            id: string;
                            outcome: "finalized" | "deleted" | "earlier_draft" | "not_computed" | "not_reached" | "invoice_not_draft";
                            invoice_number: string | null;
                            not_computed?: components["schemas"]["NotComputed"];
                        }[];
                    };
                };
            };
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
            200: {
                content: {
                    "application/json": components["schemas"]["InvoiceLine"];
                };
            };
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
            204: {
            };
        };
    };
    getInvoiceLineUsage: {
        parameters: {
            query?: {
                group_by?: "hour" | "day" | "week" | "month";
            };
            path: {
                id: string;
                line_id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["LineUsage"];
                };
            };
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
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["EventReceipt"][];
                        meta: components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    listInvoiceLines: {
        parameters: {
            query?: {
                customer_id?: string;
                subscription_id?: string;
                status?: "OPEN" | "PAID" | "VOID" | "UNCOLLECTIBLE";
                is_past_due?: "true" | "false";
                from?: string;
                to?: string;
                issued_from?: string;
                issued_to?: string;
                format?: "json" | "csv";
                cursor?: string;
                limit?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["ListedLine"][];
                        meta: components["schemas"]["CursorMeta"];
                    };
                    "text/csv": string;
                };
            };
        };
    };
    getSubscriptionUsage: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["ChargeUsage"][];
                    };
                };
            };
        };
    };
    previewInvoice: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["InvoicePreview"];
                };
            };
        };
    };
    settleSubscription: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        invoice: null;
                    };
                };
            };
            201: {
                content: {
                    "application/json": {
                        invoice: components["schemas"]["InvoiceWithLines"];
                    };
                };
            };
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
                    plan_id: string;
                    when?: "period_end" | "now";
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
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
                    plan_id: string;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["PlanChangePreview"];
                };
            };
        };
    };
    getEvent: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["EventReceipt"];
                };
            };
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
                reason?: string;
                start_date?: string;
                end_date?: string;
                cursor?: string;
                limit?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["EventReceipt"][];
                        meta: components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    listEventRejections: {
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["EventRejection"][];
                        has_more: boolean;
                    };
                };
            };
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
                    metadata?: {
                        [key: string]: unknown;
                    };
                    idempotency_key?: string | null;
                } | null;
            };
        };
        responses: {
            202: {
                content: {
                    "application/json": {
                        id: string;
                        status: "queued";
                    };
                };
            };
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
                    reason: string;
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["CorrectionMade"];
                };
            };
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
                    reason: string;
                    quantity?: number | string;
                    timestamp?: string;
                    metadata?: {
                        [key: string]: unknown;
                    } | null;
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["CorrectionMade"];
                };
            };
        };
    };
    listCorrections: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Correction"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    createCorrections: {
        requestBody: {
            content: {
                "application/json": {
                    corrections: {
                        type: "void" | "amend";
                        event_id: string;
                        reason: string;
                        quantity?: number | string;
                        timestamp?: string;
                        metadata?: {
                            [key: string]: unknown;
                        } | null;
                    }[];
                };
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": {
                        data: components["schemas"]["CorrectionMade"][];
                    };
                };
            };
        };
    };
    previewCorrections: {
        requestBody: {
            content: {
                "application/json": {
                    corrections: {
                        type: "void" | "amend";
                        event_id: string;
                        reason: string;
                        quantity?: number | string;
                        timestamp?: string;
                        metadata?: {
                            [key: string]: unknown;
                        } | null;
                    }[];
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["CorrectionsPreview"];
                };
            };
        };
    };
    getOverview: {
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
        };
    };
    getMeterUsage: {
        parameters: {
            query?: {
                start_date?: string;
                end_date?: string;
                timezone?: string;
                group_by?: "hour" | "day" | "week" | "month";
                group_by_metadata?: string;
                groups_limit?: number;
                filter?: {
                    [key: string]: string;
                };
                customer_id?: string;
                customer_external_id?: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["MeterUsage"];
                };
            };
        };
    };
    getUsage: {
        parameters: {
            query: {
                start_date?: string;
                end_date?: string;
                timezone?: string;
                group_by?: "hour" | "day" | "week" | "month";
                group_by_metadata?: string;
                groups_limit?: number;
                filter?: {
                    [key: string]: string;
                };
                customer_id?: string;
                customer_external_id?: string;
                meter_token: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["MeterUsage"];
                };
            };
        };
    };
    listMeterCustomers: {
        parameters: {
            query?: {
                start_date?: string;
                end_date?: string;
                timezone?: string;
                sort?: "total_usage" | "-total_usage" | "customer_external_id" | "-customer_external_id";
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["CustomerOfMeter"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                        meter_id: string;
                        period_start: string;
                        period_end: string;
                    };
                };
            };
        };
    };
    getCustomerUsage: {
        parameters: {
            query?: {
                start_date?: string;
                end_date?: string;
                timezone?: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        customer_id: string;
                        customer_external_id: string;
                        period_start: string;
                        period_end: string;
                        data: components["schemas"]["MeterOfCustomer"][];
                    };
                };
            };
        };
    };
    listErasures: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["Erasure"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    eraseCustomer: {
        requestBody: {
            content: {
                "application/json": {
                    customer_id?: string;
                    customer_external_id?: string;
                    invoice_copies_issued_before?: string;
                };
            };
        };
        responses: {
            202: {
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
        };
    };
    getErasure: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
        };
    };
    listUsageMoves: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                page?: number;
                page_size?: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        data: components["schemas"]["UsageMove"][];
                        meta: components["schemas"]["PageMeta"] | components["schemas"]["CursorMeta"];
                    };
                };
            };
        };
    };
    moveUsage: {
        requestBody: {
            content: {
                "application/json": {
                    from_external_id: string;
                    to_external_id: string;
                };
            };
        };
        responses: {
            202: {
                content: {
                    "application/json": components["schemas"]["UsageMove"];
                };
            };
        };
    };
    getUsageMove: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["UsageMove"];
                };
            };
        };
    };
    getWidgetSettings: {
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WidgetSettings"];
                };
            };
        };
    };
    updateWidgetSettings: {
        requestBody: {
            content: {
                "application/json": {
                    meter_ids?: string[] | null;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WidgetSettings"];
                };
            };
        };
    };
}

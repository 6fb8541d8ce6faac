// @ts-check
// The API's documentation page.
/** @type {any} */ (window).SwaggerUIBundle({ url: "/api/docs/openapi.json", dom_id: "#swagger-ui", deepLinking: true });

package passport

import (
	"fmt"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// tenantClaims may name the tenant; the first that is there counts.
var tenantClaims = [...]string{"tenant_key", "tenant_id", "tenant", "org_id"}

// holderOf reads the claims of a token that counts.
func holderOf(claims jwt.MapClaims, rolesClaim string) (Holder, error) {
	subject, _ := claims["sub"].(string)
	if strings.TrimSpace(subject) == "" {
		return Holder{}, fmt.Errorf("%w: it names no subject", ErrRefused)
	}
	holder := Holder{Subject: subject, Roles: rolesOf(lookUp(claims, rolesClaim))}
	for _, name := range tenantClaims {
		value, there := claims[name]
		if !there || value == nil || value == "" {
			continue
		}
		tenant, isText := value.(string)
		if !isText {
			return Holder{}, fmt.Errorf("%w: claim %s is no text", ErrRefused, name)
		}
		holder.Tenant = tenant
		break
	}
	return holder, nil
}

// lookUp returns a claim by its name, or by a path of names with dots between them.
func lookUp(claims map[string]any, path string) any {
	if value, there := claims[path]; there || path == "" {
		return value
	}
	name, rest, nested := strings.Cut(path, ".")
	inner, isObject := claims[name].(map[string]any)
	if !nested || !isObject {
		return nil
	}
	return lookUp(inner, rest)
}

// rolesOf reads a list of roles, or one text with spaces or commas between them.
func rolesOf(value any) []string {
	var roles []string
	switch value := value.(type) {
	case string:
		roles = strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == ',' })
	case []any:
		for _, item := range value {
			if role, isText := item.(string); isText && role != "" {
				roles = append(roles, role)
			}
		}
	}
	return roles
}

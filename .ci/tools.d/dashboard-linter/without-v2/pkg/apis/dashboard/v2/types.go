// Package v2 stands in for Grafana's module of the same path, which the linter needs only for
// dashboards in schema v2. It declares the types and fields that the linter names, so that the
// linter compiles; dashboards in schema v2 must not be linted with it.
package v2

type DashboardSpec struct {
	Title       string
	Editable    *bool
	Elements    map[string]DashboardElement
	Variables   []DashboardVariableKind
	Annotations []DashboardAnnotationQueryKind
}

type DashboardElement struct{ PanelKind *DashboardPanelKind }

type DashboardPanelKind struct{ Spec DashboardPanelSpec }

type DashboardPanelSpec struct {
	Id          float64
	Title       string
	Description string
	Data        struct {
		Spec struct{ Queries []DashboardPanelQueryKind }
	}
	VizConfig struct {
		Group string
		Spec  struct {
			FieldConfig any
			Options     any
		}
	}
}

type DashboardPanelQueryKind struct {
	Spec struct {
		RefId  string
		Hidden bool
		Query  DashboardDataQueryKind
	}
}

type DashboardDataQueryKind struct {
	Group      string
	Datasource *struct{ Name *string }
	Spec       map[string]any
}

type DashboardAnnotationQueryKind struct {
	Spec struct {
		Name  string
		Query DashboardDataQueryKind
	}
}

type DashboardVariableRefresh string

const (
	DashboardVariableRefreshOnDashboardLoad    DashboardVariableRefresh = "onDashboardLoad"
	DashboardVariableRefreshOnTimeRangeChanged DashboardVariableRefresh = "onTimeRangeChanged"
)

type variable struct {
	Name  string
	Label *string
	Multi bool
}

type variableWithAll struct {
	variable
	AllValue *string
	Refresh  DashboardVariableRefresh
}

type textual struct {
	variableWithAll
	Query string
}

type DashboardVariableKind struct {
	QueryVariableKind *struct {
		Spec struct {
			variableWithAll
			Query DashboardDataQueryKind
		}
	}
	DatasourceVariableKind *struct {
		Spec struct {
			variableWithAll
			PluginId string
		}
	}
	CustomVariableKind   *struct{ Spec textual }
	IntervalVariableKind *struct{ Spec textual }
	ConstantVariableKind *struct{ Spec textual }
	TextVariableKind     *struct{ Spec textual }
	AdhocVariableKind    *struct{ Spec variable }
	GroupByVariableKind  *struct{ Spec variable }
	SwitchVariableKind   *struct{ Spec variable }
}

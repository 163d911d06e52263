// The vendor's own client, asking NerdGraph for what a test wants to compare.
//
//	NEW_RELIC_API_KEY=... vendor-client URL ACCOUNT ENTITY-QUERY [NRQL...]
//
// Prints one JSON document. Exits with 1 if a request fails that must not.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/newrelic/newrelic-client-go/v2/pkg/accounts"
	"github.com/newrelic/newrelic-client-go/v2/pkg/config"
	"github.com/newrelic/newrelic-client-go/v2/pkg/entities"
	"github.com/newrelic/newrelic-client-go/v2/pkg/nrdb"
	"github.com/newrelic/newrelic-client-go/v2/pkg/region"
)

// An application of a list, as the client has decoded it.
type application struct {
	GUID          string  `json:"guid"`
	Name          string  `json:"name"`
	AccountID     int     `json:"accountId"`
	ApplicationID int     `json:"applicationId"`
	Reporting     bool    `json:"reporting"`
	AlertSeverity string  `json:"alertSeverity"`
	Language      string  `json:"language"`
	ApdexTarget   float64 `json:"apdexTarget"`
	HostCount     int     `json:"hostCount"`
	Throughput    float64 `json:"throughput"`
}

// An answer to one NRQL, or the error that the client made of it.
type answer struct {
	Results     []nrdb.NRDBResult `json:"results"`
	OtherResult nrdb.NRDBResult   `json:"otherResult"`
	TotalResult nrdb.NRDBResult   `json:"totalResult"`
	Facets      []string          `json:"facets"`
	Error       string            `json:"error"`
}

type report struct {
	Accounts     []accounts.AccountOutline `json:"accounts"`
	GUIDs        []string                  `json:"guids"`
	Truncated    bool                      `json:"truncated"`
	Count        int                       `json:"count"`
	Applications []application             `json:"applications"`
	Answers      []answer                  `json:"answers"`
}

func configOf(url string) (config.Config, error) {
	cfg := config.New()
	options := []config.ConfigOption{
		config.ConfigPersonalAPIKey(os.Getenv("NEW_RELIC_API_KEY")),
		config.ConfigRegion(region.Default.String()),
		config.ConfigNerdGraphBaseURL(url),
	}
	for _, option := range options {
		if err := option(&cfg); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

// The first page, with every field that the client knows.
func applicationsOf(client *entities.Entities) (int, []application, error) {
	builder := entities.EntitySearchQueryBuilder{Domain: "APM", Type: "APPLICATION"}
	found, err := client.GetEntitySearch(entities.EntitySearchOptions{}, "", builder, nil, nil)
	if err != nil {
		return 0, nil, err
	}
	list := []application{}
	for _, entity := range found.Results.Entities {
		outline, ok := entity.(*entities.ApmApplicationEntityOutline)
		if !ok {
			return 0, nil, fmt.Errorf("the entity is a %T", entity)
		}
		list = append(list, application{
			GUID:          string(outline.GUID),
			Name:          outline.Name,
			AccountID:     outline.AccountID,
			ApplicationID: outline.ApplicationID,
			Reporting:     outline.Reporting,
			AlertSeverity: string(outline.AlertSeverity),
			Language:      outline.Language,
			ApdexTarget:   outline.Settings.ApdexTarget,
			HostCount:     outline.ApmSummary.HostCount,
			Throughput:    outline.ApmSummary.Throughput,
		})
	}
	return found.Count, list, nil
}

// The client's richest query, with all the members of a result.
func answerOf(client *nrdb.Nrdb, account int, text string) answer {
	found, err := client.QueryWithAdditionalOptions(account, nrdb.NRQL(text), 30, false)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{
		Results:     found.Results,
		OtherResult: found.OtherResult,
		TotalResult: found.TotalResult,
		Facets:      found.Metadata.Facets,
	}
}

func run(url string, account int, entityQuery string, queries []string) (*report, error) {
	cfg, err := configOf(url)
	if err != nil {
		return nil, err
	}
	accountClient := accounts.New(cfg)
	entityClient := entities.New(cfg)
	nrdbClient := nrdb.New(cfg)

	made := report{Answers: []answer{}}
	if made.Accounts, err = accountClient.ListAccounts(accounts.ListAccountsParams{}); err != nil {
		return nil, err
	}
	made.GUIDs, made.Truncated, err = entityClient.GetAllEntitySearchGUIDsByQueryWithContext(
		context.Background(), entityQuery)
	if err != nil {
		return nil, err
	}
	if made.Count, made.Applications, err = applicationsOf(&entityClient); err != nil {
		return nil, err
	}
	for _, text := range queries {
		made.Answers = append(made.Answers, answerOf(&nrdbClient, account, text))
	}
	return &made, nil
}

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: vendor-client URL ACCOUNT ENTITY-QUERY [NRQL...]")
		os.Exit(2)
	}
	account, err := strconv.Atoi(os.Args[2])
	if err == nil {
		var made *report
		if made, err = run(os.Args[1], account, os.Args[3], os.Args[4:]); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(made)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

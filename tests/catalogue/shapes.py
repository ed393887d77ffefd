"""Small graphs in the shape of those of public endpoints, written by hand from what the profiles' sources show."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """A small graph, and what one hop in it is by the rules of the profile.

    Attributes:
        turtle: The triples, without prefixes: those of the profile are put before them.
        seed: The ID from which the hop starts.
        name: The name of the seed.
        neighbours: The IDs that the hop reaches.
    """

    turtle: str
    seed: str
    name: str
    neighbours: frozenset[str]


SHAPES: Mapping[str, Shape] = {
    "rhea": Shape(
        """
        rh:10000 a rdfs:Class ; rdfs:subClassOf rh:Reaction ; rdfs:label "H2O + pentanamide = NH4(+) + pentanoate" ;
          rh:status rh:Approved ; rh:side rh:10000_L ; rh:ec enzyme:3.5.1.50 .
        rh:10000_L a rdfs:Class ; rh:contains rh:Participant_10000_compound_16459 .
        """,
        "rh:10000",
        "H2O + pentanamide = NH4(+) + pentanoate",
        frozenset({"rh:Reaction", "rh:10000_L", "enzyme:3.5.1.50"}),
    ),
    "bgee": Shape(
        """
        gene:ENSG00000130208 a orth:Gene ; rdfs:label "APOC1" ; orth:organism species:9606 ;
          genex:isExpressedIn <urn:c:1> .
        <urn:c:1> a genex:ExpressionCondition ; genex:hasAnatomicalEntity UBERON:0002107 .
        UBERON:0002107 a genex:AnatomicalEntity ; rdfs:label "liver" .
        """,
        "gene:ENSG00000130208",
        "APOC1",
        frozenset({"species:9606", "urn:c:1"}),
    ),
    "oma": Shape(
        """
        <https://omabrowser.org/oma/info/HUMAN1> a orth:Protein ; rdfs:label "INS" ; dct:identifier "HUMAN1" ;
          lscr:xrefUniprot uniprot:P01308 .
        <urn:cluster:1> a orth:OrthologsCluster ; orth:hasHomologousMember <https://omabrowser.org/oma/info/HUMAN1> .
        """,
        "oma:info/HUMAN1",
        "INS",
        frozenset({"uniprot:P01308", "urn:cluster:1"}),
    ),
    "wikipathways": Shape(
        """
        pathway:WP254 a wp:Pathway ; dc:title "Apoptosis" ; foaf:page <http://www.wikipathways.org/instance/WP254> .
        <https://identifiers.org/ncbigene/836> a wp:GeneProduct ; rdfs:label "CASP3" ; dct:isPartOf pathway:WP254 .
        """,
        "pathway:WP254",
        "Apoptosis",
        frozenset({"https://identifiers.org/ncbigene/836"}),
    ),
    "mesh": Shape(
        """
        mesh:D003924 a meshv:TopicalDescriptor ; rdfs:label "Diabetes Mellitus, Type 2" ;
          meshv:broaderDescriptor mesh:D003920 ; meshv:allowableQualifier mesh:Q000188 .
        mesh:D003920 a meshv:TopicalDescriptor ; rdfs:label "Diabetes Mellitus" ; meshv:annotation "general" .
        """,
        "mesh:D003924",
        "Diabetes Mellitus, Type 2",
        frozenset({"mesh:D003920", "mesh:Q000188"}),
    ),
    "lov": Shape(
        """
        foaf: a voaf:Vocabulary ; dct:title "Friend of a Friend vocabulary"@en ; vann:preferredNamespacePrefix "foaf" ;
          voaf:reliesOn dct: .
        """,
        "http://xmlns.com/foaf/0.1/",
        "Friend of a Friend vocabulary",
        frozenset({"http://purl.org/dc/terms/"}),
    ),
    "agrovoc": Shape(
        """
        agrovoc:c_6599 a skos:Concept ; skos:prefLabel "rice"@en, "riz"@fr ; skos:altLabel "paddy"@en ;
          skosxl:prefLabel agrovoc:xl_en_1 ; skos:inScheme agrovoc: ; skos:broader agrovoc:c_1474 .
        agrovoc:xl_en_1 a skosxl:Label ; skosxl:literalForm "rice"@en .
        agrovoc:c_1474 a skos:Concept ; skos:prefLabel "cereals"@en ; skos:inScheme agrovoc: .
        """,
        "agrovoc:c_6599",
        "rice",
        frozenset({"agrovoc:c_1474"}),
    ),
    "dnb": Shape(
        """
        gnd:118540238 a gndo:DifferentiatedPerson ; gndo:preferredNameForThePerson "Goethe, Johann Wolfgang von" ;
          gndo:gender gender:male ; gndo:geographicAreaCode area:XA-DE ; gndo:placeOfBirth gnd:4018118-2 .
        gnd:4018118-2 a gndo:TerritorialCorporateBodyOrAdministrativeUnit ;
          gndo:preferredNameForThePlaceOrGeographicName "Frankfurt am Main" .
        """,
        "gnd:118540238",
        "Goethe, Johann Wolfgang von",
        frozenset({"gnd:4018118-2"}),
    ),
    "lindas": Shape(
        """
        canton:21 a schema:AdministrativeArea ; schema:name "Tessin"@de, "Ticino"@it ;
          schema:containsPlace municipality:5397 .
        <urn:set:1> cube:observation <urn:observation:1> .
        <urn:observation:1> a cube:Observation ; schema:spatialCoverage canton:21 .
        """,
        "canton:21",
        "Ticino",
        frozenset({"municipality:5397", "urn:observation:1"}),
    ),
    "nanopub": Shape(
        """
        <https://w3id.org/np/RA1> a np:Nanopublication ; rdfs:label "Aspirin treats headache" ;
          dct:creator orcid:0000-0001 ;
          np:hasAssertion <https://w3id.org/np/RA1/assertion> .
        orcid:0000-0001 foaf:name "Ada" .
        """,
        "https://w3id.org/np/RA1",
        "Aspirin treats headache",
        frozenset({"orcid:0000-0001"}),
    ),
    "chembl": Shape(
        """
        chembl_molecule:CHEMBL25 a cco:SmallMolecule ; rdfs:label "ASPIRIN" ; skos:altLabel "Acetylsalicylic acid" ;
          cco:moleculeXref <https://www.drugbank.ca/drugs/DB00945> ;
          cco:hasMechanism <http://rdf.ebi.ac.uk/resource/chembl/drug_mechanism/CHEMBL_MEC_1> .
        <http://rdf.ebi.ac.uk/resource/chembl/drug_mechanism/CHEMBL_MEC_2> a cco:Mechanism ;
          cco:hasMolecule chembl_molecule:CHEMBL25 .
        """,
        "chembl_molecule:CHEMBL25",
        "ASPIRIN",
        frozenset({"chembl:drug_mechanism/CHEMBL_MEC_1", "chembl:drug_mechanism/CHEMBL_MEC_2"}),
    ),
    "pubchem": Shape(
        """
        protein:ACCP05979 a vocab:Protein ; skos:prefLabel "Prostaglandin G/H synthase 1" ;
          cito:isDiscussedBy <urn:pmid:1> .
        pathway:PWID1 a vocab:Pathway ; rdfs:label "Aspirin action" ; obo:RO_0000057 protein:ACCP05979 .
        """,
        "protein:ACCP05979",
        "Prostaglandin G/H synthase 1",
        frozenset({"pathway:PWID1"}),
    ),
    "data-europa": Shape(
        """
        dataset:air-1 a dcat:Dataset ; dct:title "Air quality in Ghent"@en ; dcat:theme theme:ENVI ;
          dcat:distribution <urn:distribution:1> .
        <urn:distribution:1> a dcat:Distribution ; dcat:accessURL <https://example.org/air.csv> .
        """,
        "dataset:air-1",
        "Air quality in Ghent",
        frozenset({"theme:ENVI", "urn:distribution:1"}),
    ),
    "bnf": Shape(
        """
        <http://data.bnf.fr/ark:/12148/cb12258414j> a skos:Concept ; skos:prefLabel "Le médecin malgré lui"@fr ;
          foaf:focus <http://data.bnf.fr/ark:/12148/cb12258414j#about> ; skos:exactMatch <urn:idref:1> .
        <http://data.bnf.fr/ark:/12148/cb1#about> dct:title "Le médecin malgré lui, 1667" ;
          rdarelationships:workManifested <http://data.bnf.fr/ark:/12148/cb12258414j#about> ;
          rdarelationships:electronicReproduction <https://gallica.bnf.fr/ark:/12148/bpt6k1> .
        """,
        "ark:cb12258414j",
        "Le médecin malgré lui",
        frozenset({"ark:cb12258414j#about", "urn:idref:1"}),
    ),
    "getty": Shape(
        """
        aat:300198849 a gvp:Subject ; skos:prefLabel "Nolan amphorae"@en ; gvp:broaderPreferred aat:300148696 ;
          gvp:prefLabelGVP <http://vocab.getty.edu/aat/term/1000198849-en> .
        """,
        "aat:300198849",
        "Nolan amphorae",
        frozenset({"aat:300148696"}),
    ),
    "orkg": Shape(
        """
        orkgr:R1 a orkgc:Paper ; rdfs:label "A study of hops" ; orkgp:P31 orkgr:R2 ; orkgp:P30 orkgr:R3 .
        orkgr:R2 a orkgc:Contribution ; rdfs:label "Contribution 1" .
        """,
        "orkgr:R1",
        "A study of hops",
        frozenset({"orkgr:R2", "orkgr:R3"}),
    ),
    "uniprot": Shape(
        """
        uniprot:P05067 a up:Protein ; up:mnemonic "A4_HUMAN" ; up:organism taxon:9606 .
        taxon:9606 a up:Taxon ; up:scientificName "Homo sapiens" .
        """,
        "uniprot:P05067",
        "A4_HUMAN",
        frozenset({"taxon:9606"}),
    ),
    "dbpedia": Shape(
        """
        dbr:Berlin a dbo:City ; rdfs:label "Berlin"@en ; dbo:country dbr:Germany ; dbo:wikiPageWikiLink dbr:Bear .
        dbr:Germany a dbo:Country ; rdfs:label "Germany"@en .
        """,
        "dbr:Berlin",
        "Berlin",
        frozenset({"dbr:Germany"}),
    ),
}
"""By the name of the profile. `tests/wikidata` has graphs in the shape of Wikidata."""


def prefixes_of(prefixes: Mapping[str, str]) -> str:
    """Return prefixes as Turtle and TriG declare them."""
    return "".join(f"@prefix {name}: <{namespace}> .\n" for name, namespace in prefixes.items())


def turtle_of(shape: Shape, prefixes: Mapping[str, str]) -> str:
    """Return the graph as a file, with the prefixes of its profile."""
    return prefixes_of(prefixes) + shape.turtle
